import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { dependentKinds } from '@opsplane/contracts'
import { type Receiver, startReceiver, waitFor } from '@opsplane/testing'
import { type Api, apiClient } from './platform.js'
import { joinPlatform, type SharedPlatform } from './shared/platform.js'

/** Tests every kind of resource that depends on a person, and what happens to it when the person leaves. */

let platform: SharedPlatform
let api: Api
let receiver: Receiver
beforeAll(async () => {
  platform = await joinPlatform()
  api = apiClient(platform.info)
  receiver = await startReceiver({ tls: false, respond: () => ({ status: 200 }) })
  await make('/secrets', { name: 'door', value: 'sesame' })
})
afterAll(() => receiver?.stop())

async function make<T = { id: string }>(path: string, body: object, bearer?: string): Promise<T> {
  const headers = bearer === undefined ? {} : { authorization: bearer }
  const answer = await api<{ data: T }>('POST', path, { body, headers })
  if (answer.status >= 300) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
  return answer.body.data
}
const get = async <T>(path: string) => (await api<{ data: T }>('GET', path)).body.data

interface Person {
  id: string
  bearer: string
}
async function join(name: string, role = 'admin'): Promise<Person> {
  const email = `${name}@succession.example.com`
  const { id, invitation } = await make<{ id: string; invitation: { token: string } }>(
    '/settings/users/invite',
    { email, role },
  )
  const accepted = { token: invitation.token, name, password: 'correct horse battery staple' }
  const { accessToken } = await make<{ accessToken: string }>('/auth/invitations/accept', accepted)
  return { id, bearer: `Bearer ${accessToken}` }
}

/**
 * Creates resources of every kind that the person owns, except exports and imports, which end by themselves; returns
 * ids by kind.
 */
async function ownAll({ id: person, bearer }: Person, suffix: string) {
  const own = <T = { id: string }>(path: string, body: object) => make<T>(path, body, bearer)
  const url = `${receiver.url}/${suffix}`
  const headers = { authorization: 'Bearer {{secrets.door}}' }
  const webhook = await own('/webhooks', { name: `hook ${suffix}`, url, events: ['incident.*'], headers })
  const auth = { type: 'bearer', token: '{{secrets.door}}' }
  const connector = await own('/connectors', {
    name: `api ${suffix}`,
    kind: 'http',
    config: { baseUrl: url, auth },
  })
  const publish = async (name: string, steps: object[], activate: boolean) => {
    const made = await own('/workflows', { name: `${name} ${suffix}`, definition: { steps } })
    await own(`/workflows/${made.id}/publish`, { activate })
    return made.id
  }
  const workflow = await publish('Greets', [{ id: 'greet', type: 'transform', value: 'Hello' }], true)
  const approvers = { users: [person] }
  const asks = await publish('Asks', [{ id: 'ask', type: 'approval', title: 'May I?', approvers }], false)
  const { runId: approval } = await own<{ runId: string }>(`/workflows/${asks}/trigger`, {})
  await waitFor(async () => (await get<{ status: string }>(`/runs/${approval}`)).status === 'paused')
  const slug = `greets-${suffix}`
  const source = `import { artifact } from '@opsplane/sdk'
    export default artifact(async () => 'Hello')`
  const pack = await own('/sdk/packs/install', {
    manifest: {
      ...{ format: 'opsplane.pack/1', name: `desk-${suffix}`, version: '1.0.0' },
      artifacts: [{ slug, kind: 'scheduled', source: 'greets.ts' }],
    },
    files: { 'greets.ts': source },
  })
  const job = await own('/sdk/scheduled-jobs', {
    ...{ name: `job ${suffix}`, artifact: slug, schedule: { everySeconds: 86_400 } },
  })
  const app = await own('/apps', { slug: `register-${suffix}`, name: 'Register' })
  await own(`/apps/${app.id}/pages`, {
    slug: 'all',
    title: 'All',
    components: [{ type: 'text', value: 'Hello' }],
  })
  const deployment = await own(`/apps/${app.id}/deploy`, { embeddable: true })
  const embed = await own(`/apps/${app.id}/embed-token`, { origins: ['https://portal.example.com'] })
  const kpi = await own('/analytics/kpis', {
    ...{ name: `time ${suffix}`, unit: 'ms', direction: 'down', timeZone: 'UTC' },
    source: { measure: { dataset: 'incidents', measure: 'p90_time_to_resolve' } },
  })
  const incident = await own('/itsm/incidents', { title: 'Disk full', assigneeId: person })
  const problem = await own('/itsm/problems', { title: 'Disks fill up', assigneeId: person })
  const change = await own('/itsm/changes', { title: 'New disk', type: 'normal', assigneeId: person })
  const tasks = [{ key: 'order', name: 'Order it', assigneeId: person }]
  const item = await own('/catalog/items', { name: `Laptop ${suffix}`, tasks })
  await own(`/catalog/items/${item.id}/activate`, {})
  const request = await own<{ id: string; tasks: { id: string }[] }>('/catalog/requests', { itemId: item.id })
  const key = await own('/auth/tokens', { name: `key ${suffix}`, scopes: ['itsm:read'] })
  return {
    ids: {
      ...{ webhook: [webhook.id], workflow: [workflow, asks], pack: [pack.id], scheduled_job: [job.id] },
      ...{ app: [deployment.id], embed_token: [embed.id], kpi: [kpi.id], connector: [connector.id] },
      ...{ incident: [incident.id], problem: [problem.id], change: [change.id] },
      ...{ catalog_task: request.tasks.map(({ id }) => id), approval: [approval], api_key: [key.id] },
    } as Record<string, string[]>,
    appId: app.id,
  }
}

interface Dependent {
  kind: string
  id: string
  name: string
  takeOver: string | null
  takenOver: boolean
  problem: string | null
}
const idsByKind = (items: Dependent[]) => {
  const found: Record<string, string[]> = {}
  for (const { kind, id } of items) found[kind] = [...(found[kind] ?? []), id].sort()
  return found
}
const sorted = (ids: Record<string, string[]>) =>
  Object.fromEntries(Object.entries(ids).map(([kind, some]) => [kind, [...some].sort()]))
/** Kinds that are never taken over. */
const ends = ['embed_token', 'approval', 'api_key']

describe('a person who leaves', () => {
  test('is listed with all dependent resources, which a successor takes over with the removal', async () => {
    const [leaver, heir] = [await join('leaver'), await join('heir')]
    const { ids, appId } = await ownAll(leaver, 'taken')
    expect(Object.keys(ids).sort()).toEqual(
      dependentKinds.filter((kind) => kind !== 'export' && kind !== 'import').sort(),
    )
    const listed = await get<{ items: Dependent[]; unanswered: string[] }>(
      `/settings/users/${leaver.id}/dependents`,
    )
    expect([idsByKind(listed.items), listed.unanswered]).toEqual([sorted(ids), []])

    const removed = await api<{ data: { status: string; dependents: Dependent[] } }>(
      'DELETE',
      `/settings/users/${leaver.id}?successor=${heir.id}`,
    )
    expect(removed.status).toBe(200)
    const { status, dependents } = removed.body.data
    expect([status, idsByKind(dependents)]).toEqual(['deactivated', sorted(ids)])
    const open = dependents.filter(({ takenOver }) => !takenOver)
    expect(open.map(({ kind, problem }) => [kind, problem])).toEqual(
      dependents.filter(({ kind }) => ends.includes(kind)).map(({ kind }) => [kind, null]),
    )

    const owners = {
      ...{
        webhook: 'owner_id',
        workflow: 'ownerId',
        pack: 'ownerId',
        scheduled_job: 'ownerId',
        kpi: 'ownerId',
      },
      ...{ connector: 'ownerId', incident: 'assigneeId', problem: 'assigneeId', change: 'assigneeId' },
    }
    const paths: Record<string, string> = {
      ...{
        webhook: '/webhooks',
        workflow: '/workflows',
        pack: '/sdk/packs',
        scheduled_job: '/sdk/scheduled-jobs',
      },
      ...{ kpi: '/analytics/kpis', connector: '/connectors', incident: '/itsm/incidents' },
      ...{ problem: '/itsm/problems', change: '/itsm/changes' },
    }
    for (const [kind, field] of Object.entries(owners))
      for (const id of ids[kind] ?? [])
        expect([kind, (await get<Record<string, unknown>>(`${paths[kind]}/${id}`))[field]]).toEqual([
          kind,
          heir.id,
        ])
    const [live] = await get<{ giverId: string }[]>(`/apps/${appId}/deployments`)
    expect(live?.giverId).toBe(heir.id)
    const rest = await get<{ items: Dependent[] }>(`/settings/users/${leaver.id}/dependents`)
    expect(rest.items.filter(({ kind }) => !ends.includes(kind))).toEqual([])
    // Uses a grant that outlasts the request naming the successor.
    const [workflow = ''] = ids.workflow ?? []
    const { runId } = await make<{ runId: string }>(`/workflows/${workflow}/trigger`, {})
    await waitFor(async () => (await get<{ status: string }>(`/runs/${runId}`)).status === 'completed')
  })

  test('without a successor leaves the resources that need the rights of that person suspended', async () => {
    const leaver = await join('lonely')
    const { ids } = await ownAll(leaver, 'held')
    const removed = await api<{ data: { dependents: Dependent[] } }>('DELETE', `/settings/users/${leaver.id}`)
    expect(idsByKind(removed.body.data.dependents)).toEqual(sorted(ids))
    const held: [string, (of: Record<string, unknown>) => unknown][] = [
      [`/webhooks/${ids.webhook}`, (of) => of.paused_reason === 'owner_rights'],
      [`/workflows/${ids.workflow?.[0]}`, (of) => of.deactivatedReason === 'owner_rights'],
      [`/sdk/packs/${ids.pack}`, (of) => of.status === 'suspended'],
      [`/sdk/scheduled-jobs/${ids.scheduled_job}`, (of) => of.status === 'paused'],
    ]
    for (const [path, isHeld] of held) await waitFor(async () => isHeld(await get(path)))
  })

  test('has resources granted through an API key suspended after its revocation, until they are taken over', async () => {
    const giver = await join('keyed')
    const me = await api<{ data: { permissions: string[] } }>('GET', '/auth/me', {
      headers: { authorization: giver.bearer },
    })
    const scopes = me.body.data.permissions
    const key = await make<{ id: string; token: string }>(
      '/auth/tokens',
      { name: 'giver', scopes },
      giver.bearer,
    )
    const { ids, appId } = await ownAll({ id: giver.id, bearer: `Bearer ${key.token}` }, 'keyed')
    await api('DELETE', `/auth/tokens/${key.id}`, { headers: { authorization: giver.bearer } })
    const [workflow = ''] = ids.workflow ?? []
    const live = async () => (await get<{ heldReason: string | null }[]>(`/apps/${appId}/deployments`))[0]
    const workflowState = () =>
      get<{ status: string; deactivatedReason: string | null }>(`/workflows/${workflow}`)
    const packState = () => get<{ status: string; suspendedFor: string[] }>(`/sdk/packs/${ids.pack}`)
    await waitFor(async () => (await workflowState()).deactivatedReason === 'owner_rights')
    await waitFor(async () => (await packState()).suspendedFor.includes('api_key'))
    await waitFor(async () => (await live())?.heldReason === 'owner_rights')
    await waitFor(async () => {
      const notices = await get<{ resource: { id: string }; message: string }[]>('/notifications?limit=100')
      const held = [workflow, ...(ids.pack ?? []), ...(ids.app ?? [])]
      return held.every((id) =>
        notices.some(({ resource, message }) => resource.id === id && message.includes('API key')),
      )
    })
    // Webhooks depend only on the rights of the person, not on those of the API key.
    expect((await get<{ status: string }>(`/webhooks/${ids.webhook}`)).status).toBe('active')
    for (const path of [
      `/workflows/${workflow}/activate`,
      `/sdk/packs/${ids.pack}/take-over`,
      `/apps/${appId}/take-over`,
    ])
      await make(path, {}, giver.bearer)
    expect([(await workflowState()).status, (await packState()).status, (await live())?.heldReason]).toEqual([
      'active',
      'active',
      null,
    ])
  })

  test('is succeeded only by another active member whose permissions the caller holds', async () => {
    const [leaver, admin] = [await join('refused'), await join('clerk')]
    const remove = async (successor: string, bearer?: string) => {
      const headers = bearer === undefined ? {} : { authorization: bearer }
      const path = `/settings/users/${leaver.id}?successor=${successor}`
      const { status, body } = await api<{ error: { details: { code: string }[] } }>('DELETE', path, {
        headers,
      })
      return [status, body.error.details[0]?.code]
    }
    expect(await remove(leaver.id)).toEqual([422, 'same_user'])
    expect(await remove('usr_nobody')).toEqual([422, 'unknown_user'])
    const owner = (await get<{ user: { id: string } }>('/auth/me')).user.id
    expect(await remove(owner, admin.bearer)).toEqual([403, 'permission_not_held'])
    expect((await get<{ status: string }>(`/settings/users/${leaver.id}`)).status).toBe('active')
  })
})
