import {
  type JsonValue,
  notFound,
  type Run,
  type RunDetail,
  type RunStep,
  type RunValue,
  type RunWaiting,
  type TenantScope,
} from '@opsplane/contracts'
import type { Database } from '@opsplane/postgres'
import { fold } from '../engine/fold.js'
import type { Entry, Recorded, Waiting } from '../engine/history.js'
import { newRun, type Observer, type Settled, type StepRun } from '../engine/memory.js'
import type { Program } from '../engine/program.js'
import { summaryOf } from '../engine/summary.js'
import type { Origin, RunIdentity } from './model.js'
import { run } from './store/store.js'

/** A line of a journal as the trace reads it: without what is large, unless the fold needs it. */
export interface TraceLine {
  seq: number
  at: number
  entry: Record<string, unknown>
  largeField: string | null
  largeBytes: number | null
}

interface Row {
  seq: number
  at: number
  entry: Record<string, unknown>
  large_field: string | null
  large_bytes: number | null
  large: unknown
}

/** What the fold goes by beside the kinds of entries. */
const neededFields = ['items', 'waiting', 'error']

/** The journal of a run; numbers from 0. */
export async function readTraceLines(sql: Database['sql'], runId: string): Promise<TraceLine[]> {
  const rows = await run<Row>(
    sql,
    `select seq, at::float8 as at, entry, large_field, large_bytes,
       case when large_field = any($2::text[]) then large end as large
     from run_entries where run_id = $1 order by seq`,
    [runId, neededFields],
  )
  return rows.map(({ seq, at, entry, large_field: largeField, large_bytes: largeBytes, large }) => ({
    ...{ seq, at, largeField, largeBytes },
    entry: largeField !== null && large !== null ? { ...entry, [largeField]: large } : entry,
  }))
}

/** A value that stands aside of its entry. */
export async function readValue(
  sql: Database['sql'],
  { runId, seq, field, tenant }: { runId: string; seq: number; field: string; tenant: TenantScope },
): Promise<JsonValue> {
  const [row] = await run<{ value: JsonValue }>(
    sql,
    `select e.large as value from run_entries e join runs r on r.id = e.run_id
     where e.run_id = $1 and e.seq = $2::int and e.large_field = $3
       and r.workspace_id = $4 and r.environment = $5`,
    [runId, String(seq), field, tenant.workspaceId, tenant.environment],
  )
  if (!row) throw notFound()
  return row.value
}

const iso = (ms: number) => new Date(ms).toISOString()
const isoOrNull = (ms: number | null) => (ms === null ? null : iso(ms))
const nothing: RunValue = { value: null, large: null }

/** Everything that has happened in a run, step by step, from its journal. */
export function traceOf({
  identity,
  present,
  program,
  lines,
}: {
  identity: RunIdentity
  present: Run
  program: Program
  lines: readonly TraceLine[]
}): RunDetail {
  const [first, ...rest] = lines
  if (!first) throw new Error(`${identity.id} has no journal`)
  // What this service has written is as it was typed.
  const origin = first.entry as unknown as Origin
  const valueAt = (line: TraceLine, field: string) => valueIn(identity.id, line, field)
  const steps = createSteps()
  const memory = newRun(
    {
      runId: identity.id,
      workflowId: identity.workflowId,
      version: identity.workflowVersion,
      ...{ trigger: origin.trigger, event: null, input: null },
    },
    steps.observer,
  )
  for (const line of rest) {
    const entry = line.entry as unknown as Entry
    steps.at(line.at)
    steps.note(entry, line, valueAt)
    fold(program, memory, { seq: line.seq, at: line.at, bytes: 0, entry } satisfies Recorded)
  }
  const last = rest.at(-1)
  return {
    ...present,
    trigger: origin.trigger,
    input: valueAt(first, 'input'),
    event: valueAt(first, 'event'),
    output: last && present.status === 'completed' ? valueAt(last, 'output') : nothing,
    nextDueAt: isoOrNull(summaryOf(memory).nextDue),
    steps: steps.all(),
  }
}

function valueIn(runId: string, { seq, entry, largeField, largeBytes }: TraceLine, field: string): RunValue {
  if (largeField === field && !(field in entry))
    return { value: null, large: { href: `/runs/${runId}/values/${seq}.${field}`, bytes: largeBytes ?? 0 } }
  // JSON, as it was read from the journal.
  return { value: (entry[field] ?? null) as RunValue['value'], large: null }
}

/** Steps as they begin and come out while a journal is folded. */
function createSteps() {
  const all: RunStep[] = []
  const byStep = new Map<StepRun, RunStep>()
  const byPlace = new Map<string, RunStep>()
  let now = 0

  const observer: Observer = {
    begun(step) {
      const { node, place, row, born } = step
      const traced: RunStep = {
        ...{ place, id: node.id, type: node.step.type, name: node.step.name ?? null },
        ...{ parent: row.frame.step?.place ?? null, runAttempt: born, status: 'running' },
        ...{
          startedAt: iso(now),
          endedAt: null,
          durationMs: null,
          input: nothing,
          output: nothing,
          error: null,
        },
        ...{ attempts: [], waiting: null, decisions: [], chosen: null, itemCount: null, childRunId: null },
      }
      // That of the run's output is no step of the definition.
      if (!node.id.startsWith('$')) all.push(traced)
      byStep.set(step, traced)
      byPlace.set(place, traced)
    },
    settled(step, settled) {
      const traced = byStep.get(step)
      if (traced) settle(traced, settled, now)
    },
  }

  function note(entry: Entry, line: TraceLine, valueAt: (line: TraceLine, field: string) => RunValue) {
    const traced = 'place' in entry ? byPlace.get(entry.place) : undefined
    if (!traced) return
    switch (entry.kind) {
      case 'begun':
        traced.input = valueAt(line, 'input')
        return
      case 'attempt_failed':
        traced.attempts.push({
          ...{ number: entry.attempt, endedAt: iso(line.at), retryAt: isoOrNull(entry.retryAt) },
          error: shownError(entry.error),
        })
        return
      case 'waiting':
        traced.status = 'waiting'
        traced.waiting = shownWaiting(entry.waiting)
        if (entry.waiting.for === 'run') traced.childRunId = entry.waiting.runId
        return
      case 'decided':
        traced.decisions.push({ ...entry.decision, at: iso(line.at) })
        return
      case 'chosen':
        traced.chosen = entry.list
        return
      case 'items':
        traced.itemCount = entry.items.length
        return
      case 'completed':
        traced.output = valueAt(line, 'output')
        return
    }
  }
  const at = (ms: number) => {
    now = ms
  }
  return { all: () => all, observer, note, at }
}

function settle(traced: RunStep, settled: Settled, now: number) {
  traced.endedAt = iso(now)
  traced.durationMs = now - Date.parse(traced.startedAt)
  traced.waiting = null
  if (settled.kind === 'cut') traced.status = 'cancelled'
  else if (settled.kind === 'failed') {
    traced.status = 'failed'
    traced.error = shownError(settled.error)
  } else traced.status = 'completed'
}

// Details are JSON, as they were read from the journal.
const shownError = ({
  code,
  message,
  details,
  retryable,
}: {
  code: string
  message: string
  details?: unknown
  retryable: boolean
}) =>
  ({ code, message, retryable, ...(details !== undefined && { details }) }) as NonNullable<RunStep['error']>

function shownWaiting(waiting: Waiting): RunWaiting {
  switch (waiting.for) {
    case 'time':
      return { for: 'time', dueAt: iso(waiting.dueAt) }
    case 'event':
      return { for: 'event', dueAt: iso(waiting.dueAt), types: waiting.types }
    case 'run':
      return { for: 'run', dueAt: null, runId: waiting.runId }
    case 'approval':
      // `data` is JSON, as it was read from the journal.
      return {
        for: 'approval',
        dueAt: isoOrNull(waiting.dueAt),
        approval: waiting.approval as NonNullable<RunWaiting['approval']>,
      }
  }
}
