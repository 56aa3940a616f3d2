import {
  ApiError,
  deliveryBody,
  filterMatches,
  type JsonValue,
  type PlatformEvent,
  patternMatches,
} from '@opsplane/contracts'
import type { Database } from '@opsplane/postgres'
import type { BackgroundWork, ServiceContext } from '@opsplane/service'
import type { ActiveRule, ArtifactLoading } from '../artifact/loading.js'
import type { TouchedRecord } from '../execution/model.js'
import type { Executions } from '../invoke/executions.js'

export interface RuleOptions {
  loading: ArtifactLoading
  executions: Executions
}

/** Events gather for so long where one follows another. */
const spacingMs = 50
/** Executions that have caused one another, at most. */
export const maxDepth = 10

/** Runs the business rules that events are for, each once for an event: a repeated batch finds what it has begun. */
export function startRules(
  { consume, database, clock, log }: ServiceContext,
  { loading, executions }: RuleOptions,
): BackgroundWork {
  const begin = async (event: PlatformEvent, rule: ActiveRule, depth: number) => {
    const { tenant } = rule
    const artifact = await loading.loadArtifact(tenant, rule.id)
    if (!artifact || artifact.status === 'suspended') return
    if (depth > maxDepth)
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
    perform: async (events) => {
      const matches = await matchesOf(loading, events)
      const depths = await depthsOf(
        database,
        matches.flatMap(({ event }) => causingExecution(event) ?? []),
      )
      for (const { event, rule } of matches) {
        const cause = depths.get(causingExecution(event) ?? '')
        await begin(event, rule, cause === undefined ? 0 : cause + 1).catch((error: unknown) => {
          if (!(error instanceof ApiError) || error.status >= 500) throw error
          log.warn({ err: error, artifact: rule.slug, event: event.id }, 'a business rule could not be run')
        })
      }
    },
  })
}

async function matchesOf(
  { activeRules }: Pick<ArtifactLoading, 'activeRules'>,
  events: readonly PlatformEvent[],
) {
  const tenants = new Map(
    events.map(({ workspaceId, environment }) => [
      `${workspaceId}/${environment}`,
      { workspaceId, environment },
    ]),
  )
  const rules = await activeRules([...tenants.values()])
  return events.flatMap((event) =>
    rules.filter((rule) => isFor(rule, event)).map((rule) => ({ event, rule })),
  )
}

const isFor = ({ tenant, rule: { events, filter } }: ActiveRule, event: PlatformEvent): boolean =>
  tenant.workspaceId === event.workspaceId &&
  tenant.environment === event.environment &&
  events.some((pattern) => patternMatches(pattern, event.type)) &&
  (filter === undefined || filterMatches(filter, bodyOf(event)))

/** An event as webhooks get it. */
function bodyOf(event: PlatformEvent): JsonValue {
  const { webhook_id: _, ...body } = deliveryBody(event, '')
  // Parsed from JSON.
  return body as JsonValue
}

/** The execution that an event tells of, or that it was caused by. */
function causingExecution({ resource, causationId }: PlatformEvent): string | undefined {
  return [resource.id, causationId].find((id) => id?.startsWith('exec_')) ?? undefined
}

function recordOfEvent({ resource, data }: PlatformEvent): TouchedRecord {
  const slug = 'tableSlug' in data && typeof data.tableSlug === 'string' ? data.tableSlug : undefined
  return { id: resource.id, table: slug ?? resource.type }
}

/** How many executions had caused each of these; those that are not there any more are absent. */
export async function depthsOf(
  { sql }: Pick<Database, 'sql'>,
  ids: readonly string[],
): Promise<Map<string, number>> {
  if (ids.length === 0) return new Map()
  const rows = await sql.unsafe<{ id: string; depth: number }[]>(
    'select id, depth from executions where id = any($1::text[])',
    [[...new Set(ids)]],
    { prepare: true },
  )
  return new Map(rows.map(({ id, depth }) => [id, depth]))
}
