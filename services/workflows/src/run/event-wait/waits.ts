import { patternMatches } from '@opsplane/contracts'
import type { Database } from '@opsplane/postgres'
import { runStatement } from '../store/store.js'
import { sendSignals } from '../transition-effects.js'
import {
  type AcceptedEvent,
  isAfter,
  type LogPositions,
  listEventPatterns,
  matchesEventFilter,
  toEventBody,
} from './accepted-event.js'

interface Wait {
  run_id: string
  task: string
  workspace_id: string
  environment: string
  types: string[]
  filter: Record<string, unknown> | null
  since: LogPositions
}

/**
 * Sends events, in the format of webhooks, to the inboxes of runs that wait for them. Returns the ids of
 * these runs.
 */
export async function sendToWaiting(
  sql: Database['sql'],
  accepted: readonly AcceptedEvent[],
  at: string | null,
): Promise<string[]> {
  if (accepted.length === 0) return []
  const events = accepted.map(({ event }) => event)
  const waits = await runStatement<Wait>(
    sql,
    `select run_id, task, workspace_id, environment, types, filter, since from run_event_waits
     where workspace_id = any($1::text[]) and types && $2::text[]`,
    [
      [...new Set(events.map(({ workspaceId }) => workspaceId))],
      [...new Set(events.flatMap(listEventPatterns))],
    ],
  )
  const signaledRunIds: string[] = []
  for (const each of accepted)
    for (const { run_id: runId, task } of waits.filter((wait) => isFor(wait, each))) {
      const signal = { kind: 'event', task, event: toEventBody(each.event) } as const
      const message = { signal, actor: null, requestId: each.event.requestId }
      signaledRunIds.push(...(await sql.begin((tx) => sendSignals(tx, [runId], message, at))))
    }
  return signaledRunIds
}

function isFor({ workspace_id, environment, types, filter, since }: Wait, accepted: AcceptedEvent): boolean {
  const { event } = accepted
  if (workspace_id !== event.workspaceId || environment !== event.environment) return false
  if (!isAfter(since, accepted)) return false
  return (
    types.some((pattern) => patternMatches(pattern, event.type)) &&
    matchesEventFilter(filter, toEventBody(event))
  )
}
