import { OpsplaneError } from '@opsplane/client'
import { waitFor } from '@opsplane/testing'
import type { typedClient } from '../platform.js'

type Client = ReturnType<typeof typedClient>
type Path = Record<string, string>

/** The users of the desk. The writer is a second admin, because requesters cannot approve their own requests. */
export interface Desk {
  owner: Client
  writer: Client
}

/** A rule in the settings may have made the transition first. */
function proposedByRule(error: unknown): void {
  if (!(error instanceof OpsplaneError && error.code === 'invalid_state_transition')) throw error
}

const problemSteps = ['new', 'assess', 'root_cause_analysis', 'fix_in_progress', 'resolved'] as const

/**
 * Prepares resources of the service desk in the status an operation applies to. Earlier operations may have changed
 * settings, or created policies and blackouts, so nothing here depends on them.
 */
export async function prepareDesk({ owner, writer }: Desk) {
  // The oldest policy with the lowest order takes precedence over policies created later.
  await owner.post('/itsm/change-policies', { body: { name: 'First of all', order: 0 } })
  const plans = { implementationPlan: 'Replace them.', backoutPlan: 'Put the old ones back.' }
  const template = (await owner.post('/itsm/change-templates', { body: { name: 'New disks', ...plans } }))
    .data
  const timer = await runningTimer()
  const plain = await activeItem({})
  const withApproval = await activeItem({ approvals: [{ name: 'Budget owner' }] })
  const withTask = await activeItem({ tasks: [{ key: 'order', name: 'Order it' }] })
  const linked = await linkedIncident()

  /** An SLA clock started by a dedicated policy. */
  async function runningTimer() {
    const body = { name: 'Always', metric: 'resolution' as const, goals: { low: 60_000 } }
    const query = { policyId: (await owner.post('/itsm/sla-policies', { body })).data.id }
    await incident()
    const list = () => owner.get('/itsm/sla-timers', { params: { query } })
    return waitFor(async () => (await list()).data[0], { intervalMs: 100 })
  }

  async function incident() {
    const body = { title: 'to be changed', severity: 'low' as const }
    return { id: (await owner.post('/itsm/incidents', { body })).data.id }
  }
  async function resolvedIncident() {
    const path = await incident()
    const body = { resolutionCode: 'fixed' as const, resolutionNotes: 'Done' }
    await owner.post('/itsm/incidents/{id}/resolve', { params: { path }, body })
    return path
  }
  async function majorIncident(until: 'proposed' | 'accepted') {
    const path = await incident()
    await writer
      .post('/itsm/incidents/{id}/major/propose', { params: { path }, body: {} })
      .catch(proposedByRule)
    if (until === 'accepted')
      await owner.post('/itsm/incidents/{id}/major/accept', { params: { path }, body: {} })
    return path
  }

  /** Created by the writer; standard changes are scheduled without an approval. */
  async function changeThatIs(status: 'assess' | 'scheduled' | 'on_hold' | 'implementing' | 'review') {
    const standard = { type: 'standard' as const, templateId: template.id }
    const planned = { plannedStart: '2030-01-05T22:00:00.000Z', plannedEnd: '2030-01-06T02:00:00.000Z' }
    const kind = status === 'assess' ? { type: 'normal' as const } : standard
    const body = { title: 'New disks', ...kind, ...planned, ...plans }
    const path = { id: (await writer.post('/itsm/changes', { body })).data.id }
    const accepting = { params: { path }, body: { acceptConflicts: true, reason: 'Whatever else is on.' } }
    await writer.post('/itsm/changes/{id}/submit', accepting)
    if (status === 'on_hold')
      await writer.post('/itsm/changes/{id}/hold', { params: { path }, body: { reason: 'No disks.' } })
    if (status !== 'implementing' && status !== 'review') return path
    await writer.post('/itsm/changes/{id}/implement', accepting)
    // A change that was simply successful would be closed immediately.
    const outcome = { outcome: 'successful_with_issues' as const }
    if (status === 'review')
      await writer.post('/itsm/changes/{id}/complete', { params: { path }, body: outcome })
    return path
  }

  async function problemThatIs(status: (typeof problemSteps)[number]) {
    const known = { rootCause: 'A leak.', workaround: 'Restart it.' }
    const { data } = await owner.post('/itsm/problems', { body: { title: 'It leaks', ...known } })
    const params = { path: { id: data.id } }
    const resolutionFields = { resolution: 'fix_applied' as const, resolutionNotes: 'Mended.' }
    const steps = [
      () => owner.post('/itsm/problems/{id}/assess', { params, body: {} }),
      () => owner.post('/itsm/problems/{id}/analyze', { params, body: {} }),
      () => owner.post('/itsm/problems/{id}/fix', { params, body: {} }),
      () => owner.post('/itsm/problems/{id}/resolve', { params, body: resolutionFields }),
    ]
    for (const step of steps.slice(0, problemSteps.indexOf(status))) await step()
    return params.path
  }
  /** A problem, and an incident that is linked to it: linking it again is allowed. */
  async function linkedIncident() {
    const path = await problemThatIs('new')
    const incidentId = (await incident()).id
    await owner.post('/itsm/problems/{id}/incidents', { params: { path }, body: { incidentId } })
    return { ...path, incidentId }
  }

  async function activeItem(more: {
    approvals?: { name: string }[]
    tasks?: { key: string; name: string }[]
  }) {
    const formSchema = { type: 'object', properties: { size: { type: 'string' } } }
    const { data } = await owner.post('/catalog/items', { body: { name: 'Laptop', formSchema, ...more } })
    await owner.post('/catalog/items/{id}/activate', { params: { path: { id: data.id } } })
    return data.id
  }
  const draftRequest = async () =>
    (await owner.post('/catalog/requests', { body: { itemId: plain, draft: true } })).data
  const requestOf = async (itemId: string) =>
    (await writer.post('/catalog/requests', { body: { itemId } })).data
  const awaitingApproval = async () => ({ id: (await requestOf(withApproval)).id })

  /** An article by another user, in the given status. */
  async function article(until: 'in_review' | 'published') {
    const body = { title: 'Disks are full', body: 'What to do.' }
    const path = { id: (await writer.post('/knowledge', { body })).data.id }
    await writer.post('/knowledge/{id}/submit', { params: { path } })
    if (until === 'published') await owner.post('/knowledge/{id}/approve', { params: { path } })
    return path
  }

  return {
    /** Path values by the beginning of the path; the longest match is used. */
    prepared: {
      '/knowledge/{id}/versions/{n}': async () => ({ ...(await article('published')), n: '1' }),
      '/knowledge/{id}/approve': () => article('in_review'),
      '/knowledge/{id}/schedule': () => article('in_review'),
      '/knowledge/{id}/reject': () => article('in_review'),
      '/knowledge/{id}/retire': () => article('published'),
      '/knowledge/{id}/feedback': () => article('published'),
      '/itsm/incidents/{id}/escalate': incident,
      '/itsm/incidents/{id}/reopen': resolvedIncident,
      '/itsm/incidents/{id}/close': resolvedIncident,
      '/itsm/incidents/{id}/major/accept': () => majorIncident('proposed'),
      '/itsm/incidents/{id}/major/reject': () => majorIncident('proposed'),
      '/itsm/incidents/{id}/major/demote': () => majorIncident('accepted'),
      '/itsm/changes/{id}/approve': () => changeThatIs('assess'),
      '/itsm/changes/{id}/reject': () => changeThatIs('assess'),
      '/itsm/changes/{id}/implement': () => changeThatIs('scheduled'),
      '/itsm/changes/{id}/hold': () => changeThatIs('scheduled'),
      '/itsm/changes/{id}/resume': () => changeThatIs('on_hold'),
      '/itsm/changes/{id}/complete': () => changeThatIs('implementing'),
      '/itsm/changes/{id}/rollback': () => changeThatIs('implementing'),
      '/itsm/changes/{id}/close': () => changeThatIs('review'),
      '/itsm/problems/{id}/analyze': () => problemThatIs('assess'),
      '/itsm/problems/{id}/fix': () => problemThatIs('root_cause_analysis'),
      '/itsm/problems/{id}/resolve': () => problemThatIs('fix_in_progress'),
      '/itsm/problems/{id}/close': () => problemThatIs('assess'),
      '/itsm/problems/{id}/reopen': () => problemThatIs('resolved'),
      '/itsm/problems/{id}/mark-known-error': () => problemThatIs('new'),
      '/itsm/problems/{id}/incidents/{incidentId}': linkedIncident,
      '/itsm/problems/{id}/incidents': async () => ({ id: linked.id }),
      '/itsm/sla-timers/{id}': async () => ({ id: timer.id }),
      '/catalog/items/{id}/retire': async () => ({ id: await activeItem({}) }),
      '/catalog/requests/{id}/approve': awaitingApproval,
      '/catalog/requests/{id}/reject': awaitingApproval,
      '/catalog/requests/{id}/fulfill': async () => ({ id: (await requestOf(plain)).id }),
      '/catalog/requests/{id}/tasks/{taskId}': async () => {
        const { id, tasks } = await requestOf(withTask)
        return { id, taskId: String(tasks[0]?.id) }
      },
      '/catalog/requests/{id}': async () => ({ id: (await draftRequest()).id }),
    } satisfies Record<string, () => Promise<Path>>,
    /** Ids that replace those in an operation's example, which do not exist. */
    named: {
      createCatalogRequest: { itemId: plain },
      linkProblemIncident: { incidentId: linked.incidentId },
      previewSlaPolicy: { entityId: timer.entityId },
    } as Record<string, Path>,
  }
}
