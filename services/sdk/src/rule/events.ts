import {
  ApiError,
  deliveryBody,
  filterMatches,
  type JsonValue,
  type PlatformEvent,
  patternMatches,
  type SubjectEvent,
} from '@opsplane/contracts'
import type { UnreadEvent } from '@opsplane/eventstore'
import { type DepthsAfter, maxCausationDepth } from '@opsplane/http'
import type { BackgroundWork, ServiceContext } from '@opsplane/service'
import type { ActiveRule, ArtifactLoader } from '../artifact/loader.js'
import type { TouchedRecord } from '../execution/model.js'
import type { Executions } from '../invoke/executions.js'

export interface RuleOptions {
  loading: ArtifactLoader
  executions: Executions
  depthsAfter: DepthsAfter
}

/** Time for which events are collected into a batch, in milliseconds. */
const spacingMs = 100

/**
 * Runs the business rules that match events, once for each event. After a redelivery the executions are
 * found to exist.
 */
export function startRules(
  { consume, clock, log }: ServiceContext,
  { loading, executions, depthsAfter }: RuleOptions,
): BackgroundWork {
  const begin = async (event: PlatformEvent, rule: ActiveRule, depth: number) => {
    const { tenant } = rule
    const artifact = await loading.loadArtifact(tenant, rule.id)
    if (!artifact || artifact.status === 'suspended') return
    if (depth > maxCausationDepth)
      return log.warn(
        { artifact: rule.slug, event: event.id },
        'a business rule was not run: too many have caused one another',
      )
    await executions.accept({
      ...{ tenant, artifact, type: 'business_rule', depth, requestId: event.requestId, now: clock.now() },
      trigger: { type: 'webhook', id: event.id },
      input: bodyOf(event),
      key: { key: `rule/${artifact.id}/${event.id}`, fingerprint: null },
      records: [recordOfEvent(event)],
    })
  }

  return consume({
    durable: 'sdk-rules',
    spacingMs,
    performLazily: async (events) => {
      const matches = await matchesOf(loading, events)
      const depthAfter = await depthsAfter(matches.map(({ event }) => event))
      for (const { event, rule } of matches) {
        await begin(event, rule, depthAfter(event)).catch((error: unknown) => {
          if (!(error instanceof ApiError) || error.status >= 500) throw error
          log.warn(
            { err: error, artifact: rule.slug, event: event.id },
            'a business rule could not be run; it is tried again',
          )
        })
      }
    },
  })
}

async function matchesOf(
  { activeRules }: Pick<ArtifactLoader, 'activeRules'>,
  events: readonly UnreadEvent[],
) {
  const tenants = new Map(
    events.map(({ workspaceId, environment }) => [
      `${workspaceId}/${environment}`,
      { workspaceId, environment },
    ]),
  )
  const rules = await activeRules([...tenants.values()])
  return events.flatMap((unread) => {
    const concerned = rules.filter((rule) => isOfType(rule, unread))
    if (concerned.length === 0) return []
    const event = unread.read()
    return concerned.filter((rule) => passesFilter(rule, event)).map((rule) => ({ event, rule }))
  })
}

const isOfType = ({ tenant, rule }: ActiveRule, { workspaceId, environment, type }: SubjectEvent): boolean =>
  tenant.workspaceId === workspaceId &&
  tenant.environment === environment &&
  rule.events.some((pattern) => patternMatches(pattern, type))

const passesFilter = ({ rule: { filter } }: ActiveRule, event: PlatformEvent): boolean =>
  filter === undefined || filterMatches(filter, bodyOf(event))

/** The event in the format of webhooks. */
function bodyOf(event: PlatformEvent): JsonValue {
  const { webhook_id: _, ...body } = deliveryBody(event, '')
  // Parsed from JSON.
  return body as JsonValue
}

function recordOfEvent({ resource, data }: PlatformEvent): TouchedRecord {
  const slug = 'tableSlug' in data && typeof data.tableSlug === 'string' ? data.tableSlug : undefined
  return { id: resource.id, table: slug ?? resource.type }
}
