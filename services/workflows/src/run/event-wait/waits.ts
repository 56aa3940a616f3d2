import { deliveryBody, Filter, filterMatches, type PlatformEvent, patternMatches } from '@opsplane/contracts'
import type { Database } from '@opsplane/postgres'
import { send } from '../aftermath.js'
import { run } from '../store/store.js'

interface Wait {
  run_id: string
  task: string
  workspace_id: string
  environment: string
  types: string[]
  filter: unknown
  /** By which its run was started, such as `event/evt_…`. */
  trigger_key: string | null
}

/** Everything a wait may name an event of this type by. */
const patternsOf = ({ type }: PlatformEvent): string[] => [
  type,
  '*',
  ...[...type.matchAll(/\./g)].map(({ index }) => `${type.slice(0, index)}.*`),
]

/** Puts events into the inboxes of runs that wait for them, each as webhooks get it; returns which runs. */
export async function sendToWaiting(
  sql: Database['sql'],
  events: readonly PlatformEvent[],
  at: string | null,
): Promise<string[]> {
  if (events.length === 0) return []
  const waits = await run<Wait>(
    sql,
    `select run_id, task, workspace_id, environment, types, filter,
       (select key from run_triggers started where started.run_id = waits.run_id) as trigger_key
     from run_event_waits waits
     where workspace_id = any($1::text[]) and types && $2::text[]`,
    [[...new Set(events.map(({ workspaceId }) => workspaceId))], [...new Set(events.flatMap(patternsOf))]],
  )
  const found = events.flatMap((event) =>
    waits.filter((wait) => isFor(wait, event)).map(({ run_id: runId, task }) => ({ runId, task, event })),
  )
  const reached: string[] = []
  for (const { runId, task, event } of found) {
    const { webhook_id: _, ...body } = deliveryBody(event, '')
    const signal = { kind: 'event', task, event: body } as const
    const message = { signal, actor: null, requestId: event.requestId }
    reached.push(...(await sql.begin((tx) => send(tx, [runId], message, at))))
  }
  return reached
}

function isFor(
  { workspace_id, environment, types, filter, trigger_key }: Wait,
  event: PlatformEvent,
): boolean {
  // A run that was quick to wait is there before its own event is handed on.
  if (trigger_key === `event/${event.id}`) return false
  if (workspace_id !== event.workspaceId || environment !== event.environment) return false
  if (!types.some((pattern) => patternMatches(pattern, event.type))) return false
  if (filter === null) return true
  // A filter whose values came out as none matches nothing.
  const parsed = Filter.safeParse(filter)
  return parsed.success && filterMatches(parsed.data, deliveryBody(event, ''))
}
