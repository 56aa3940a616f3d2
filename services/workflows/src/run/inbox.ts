import { type Actor, stringifyExact } from '@opsplane/contracts'
import type { Database } from '@opsplane/postgres'
import { secretsFoundIn } from '@opsplane/runtime'
import type { Signal } from '../engine/signal.js'
import type { ActiveRun, AwaitTask } from './active-run.js'
import { readRunEnds } from './completion-waiter.js'
import { findRecentEvents } from './event-wait/recent-events.js'
import { findConcealedValues } from './load-journals.js'
import { type SignalEnvelope, wrapOwnSignal } from './signal-envelope.js'
import { runStatement } from './store/store.js'

interface SignalRow {
  id: string
  signal: Signal
  actor: Actor | null
  request_id: string | null
  attempt: number | null
}

/** Parameters of the search; `begun`: awaited tasks not searched for before. */
export interface InboxQuery {
  active: Pick<ActiveRun, 'identity' | 'origin' | 'folded'>
  awaited: readonly AwaitTask[]
  begun: readonly AwaitTask[]
}

/** Reads all new signals of a run: those in its inbox, finished runs it waits for, and events. */
export async function readInbox(
  sql: Database['sql'],
  { active, awaited, begun }: InboxQuery,
): Promise<SignalEnvelope[]> {
  const runId = active.identity.id
  const consumedEvents = active.folded.consumedEvents()
  const forEvents = (tasks: readonly AwaitTask[]) => tasks.filter(({ waiting }) => waiting.for === 'event')
  const children = new Map(
    awaited.flatMap(({ id, waiting }) => (waiting.for === 'run' ? [[waiting.runId, id] as const] : [])),
  )
  const rows = await runStatement<SignalRow>(
    sql,
    `select id::text as id, signal, actor, request_id, attempt from run_signals
     where run_id = $1 and outcome is null order by id`,
    [runId],
  )
  const earlier = await findRecentEvents(sql, {
    ...{
      identity: active.identity,
      since: active.origin.since ?? {},
      begun: forEvents(begun),
      taken: consumedEvents,
    },
    maxEvents: forEvents(awaited).length,
  })
  const ends = children.size > 0 ? await readRunEnds(sql, [...children.keys()]) : new Map()
  const concealed = new Map<string, Set<string>>()
  for (const childId of ends.keys()) concealed.set(childId, await findConcealedValues(sql, childId))
  return [
    ...rows.map(({ id, signal, actor, request_id: requestId, attempt }) => ({
      ...{ signal, actor, requestId, inboxId: Number(id), attempt: attempt ?? undefined },
    })),
    ...earlier.map(({ task, event, requestId }) => ({
      ...wrapOwnSignal({ kind: 'event', task, event }),
      requestId,
    })),
    ...[...ends].flatMap(([childId, { status, output, error }]) => {
      const task = children.get(childId)
      if (task === undefined) return []
      const failure = error ?? {
        code: 'run_failed',
        message: `The run ended with status ${status}.`,
        step: null,
      }
      const outcome =
        status === 'completed'
          ? ({ ok: true, output } as const)
          : ({
              ok: false,
              error: {
                code: failure.code,
                message: failure.message,
                details: { runId: childId, status, step: failure.step },
                retryable: false,
              },
            } as const)
      const secrets = secretsFoundIn(stringifyExact(outcome), concealed.get(childId) ?? [])
      return [wrapOwnSignal({ kind: 'child_ended', task, outcome, ...(secrets.length > 0 && { secrets }) })]
    }),
  ]
}
