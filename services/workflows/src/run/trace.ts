import {
  type JsonValue,
  notFound,
  type Page,
  type Run,
  type RunDetail,
  type RunStep,
  type RunValue,
  type RunWaiting,
  type TenantScope,
} from '@opsplane/contracts'
import type { Database } from '@opsplane/postgres'
import { fold } from '../engine/fold.js'
import type { Entry, Waiting } from '../engine/history.js'
import {
  newRun,
  type Observer,
  type RunContext,
  type RunMemory,
  type Settled,
  type StepRun,
} from '../engine/memory.js'
import type { Program } from '../engine/program.js'
import { summarizeRun } from '../engine/summary.js'
import { parseJournalLine } from './journal-lines.js'
import { findConcealedValues } from './load-journals.js'
import type { Origin, RunIdentity } from './model.js'
import { createShownValues, type ShownValues } from './shown/shown-values.js'
import { runStatement } from './store/store.js'

/** A journal line as read for the trace: without its large value, unless that is shown. */
interface TraceLine {
  seq: number
  at: number
  entry: Record<string, unknown>
  largeField: string | null
  largeBytes: number | null
  /** Number of items of a `for_each` whose items are stored separately. */
  itemCount: number | null
}

interface Row extends Omit<TraceLine, 'entry'> {
  entry: Record<string, unknown>
  large: unknown
}

const linesAtOnce = 200
/** Fields whose large values are shown with steps. */
const shownFields = ['waiting', 'error']

/** Reads the journal of a run in batches of lines, starting at 0. */
async function* linesOf(sql: Database['sql'], runId: string): AsyncGenerator<TraceLine[]> {
  for (let after = -1; ; after += linesAtOnce) {
    const rows = await runStatement<Row>(
      sql,
      `select seq, at::float8 as at, entry, large_field as "largeField", large_bytes as "largeBytes",
         case when large_field = 'items' then json_array_length(large) end as "itemCount",
         case when large_field = any($2::text[]) then large end as large
       from run_entries where run_id = $1 and seq > $3::int order by seq limit ${linesAtOnce}`,
      [runId, shownFields, String(after)],
    )
    yield rows.map(({ large, ...line }) =>
      line.largeField !== null && large !== null
        ? { ...line, entry: { ...line.entry, [line.largeField]: large } }
        : line,
    )
    if (rows.length < linesAtOnce) return
  }
}

/** Reads a value that is stored separately from its entry. */
export async function readValue(
  sql: Database['sql'],
  { runId, seq, field, tenant }: { runId: string; seq: number; field: string; tenant: TenantScope },
): Promise<JsonValue> {
  const [row] = await runStatement<{ value: JsonValue }>(
    sql,
    `select e.large as value from run_entries e join runs r on r.id = e.run_id
     where e.run_id = $1 and e.seq = $2::int and e.large_field = $3
       and r.workspace_id = $4 and r.environment = $5`,
    [runId, String(seq), field, tenant.workspaceId, tenant.environment],
  )
  if (!row) throw notFound()
  return (await shownValues(sql, runId)).value(row.value)
}

/** Masks values by the run's input and event and the secrets received with results of steps. */
async function shownValues(sql: Database['sql'], runId: string): Promise<ShownValues> {
  const [first] = await runStatement<Pick<Row, 'entry' | 'largeField' | 'large'>>(
    sql,
    'select entry, large_field as "largeField", large from run_entries where run_id = $1 and seq = 0',
    [runId],
  )
  const { input = null, event = null } = (first ? parseJournalLine(first) : {}) as {
    input?: JsonValue
    event?: JsonValue
  }
  return createShownValues([input, event], await findConcealedValues(sql, runId))
}

const iso = (ms: number) => new Date(ms).toISOString()
const isoOrNull = (ms: number | null) => (ms === null ? null : iso(ms))
const nothing: RunValue = { value: null, large: null }

export interface TraceOptions {
  identity: RunIdentity
  program: Program
  /** Page of the steps in the order in which they began: `limit` steps after the first `after`. */
  page: { after: number; limit: number }
}

/** Some steps of a run, with the first and last line of its journal. */
interface Trace {
  first: TraceLine
  last: TraceLine
  steps: RunStep[]
  /** Number of steps up to the end of the page; `null` if there are no more. */
  next: number | null
  /** Unix milliseconds. */
  nextDue: number | null
}

/**
 * Folds the journal of a run in batches and without values, except those of the requested steps, because a history may
 * have 32 MB. `toEnd: false` stops once no later entry can change these steps.
 */
async function follow(
  sql: Database['sql'],
  { identity, program, page }: TraceOptions,
  toEnd: boolean,
): Promise<Trace> {
  const steps = createSteps(page)
  const valueAt = (line: TraceLine, field: string) => valueIn(identity.id, line, field)
  let [first, last]: (TraceLine | undefined)[] = []
  let memory: RunMemory | undefined
  for await (const lines of linesOf(sql, identity.id)) {
    for (const line of lines) {
      first ??= line
      last = line
      if (!memory) {
        memory = newRun(toContext(identity, line), steps.observer)
        continue
      }
      const entry = withoutValues(line)
      steps.at(line.at)
      steps.note(entry, line, valueAt)
      fold(program, memory, { seq: line.seq, at: line.at, bytes: 0, entry })
    }
    if (!toEnd && steps.areFinal()) break
  }
  if (!first || !last || !memory) throw new Error(`${identity.id} has no journal`)
  return { first, last, steps: steps.all(), next: steps.next(), nextDue: summarizeRun(memory).nextDue }
}

const toContext = (
  { id: runId, workflowId, workflowVersion: version }: RunIdentity,
  { entry }: TraceLine,
): RunContext => ({
  ...{ runId, workflowId, version, event: null, input: null },
  // This service wrote the line, so it has the expected type.
  trigger: (entry as unknown as Origin).trigger,
})

/** Values are not needed to fold steps: results of evaluations are recorded in separate entries. */
function withoutValues({ entry, itemCount }: TraceLine): Entry {
  const { input: _, output: __, ...rest } = entry
  const items = itemCount === null ? entry.items : new Array<null>(itemCount).fill(null)
  return { ...rest, ...(items !== undefined && { items }) } as unknown as Entry
}

/** Returns a run with its first steps. */
export async function runDetail(
  sql: Database['sql'],
  present: Run,
  options: TraceOptions,
): Promise<RunDetail> {
  const { first, last, steps, next, nextDue } = await follow(sql, options, true)
  const valueAt = (line: TraceLine, field: string) => valueIn(options.identity.id, line, field)
  const shown = await shownValues(sql, options.identity.id)
  return shown.detail({
    ...present,
    trigger: (first.entry as unknown as Origin).trigger,
    input: valueAt(first, 'input'),
    event: valueAt(first, 'event'),
    output: last !== first && present.status === 'completed' ? valueAt(last, 'output') : nothing,
    nextDueAt: isoOrNull(nextDue),
    steps,
    nextSteps: next === null ? null : String(next),
  })
}

/** Returns one page of the steps of a run. */
export async function runSteps(sql: Database['sql'], options: TraceOptions): Promise<Page<RunStep>> {
  const { steps, next } = await follow(sql, options, false)
  const shown = await shownValues(sql, options.identity.id)
  return {
    items: steps.map(shown.step),
    nextCursor: next === null ? null : String(next),
    limit: options.page.limit,
  }
}

function valueIn(runId: string, { seq, entry, largeField, largeBytes }: TraceLine, field: string): RunValue {
  if (largeField === field && !(field in entry))
    return { value: null, large: { href: `/runs/${runId}/values/${seq}.${field}`, bytes: largeBytes ?? 0 } }
  if (entry.omitted === true) return { value: null, large: null, omitted: true }
  // JSON, as read from the journal.
  return { value: (entry[field] ?? null) as RunValue['value'], large: null }
}

/** Collects the steps of a page as they begin and finish while a journal is folded. */
function createSteps({ after, limit }: TraceOptions['page']) {
  const all: RunStep[] = []
  /** Number of steps that have begun. */
  let begun = 0
  /** Number of steps of the page that have not finished. */
  let open = 0
  const byStep = new Map<StepRun, RunStep>()
  const byPlace = new Map<string, RunStep>()
  let now = 0

  const observer: Observer = {
    begun(step) {
      const { node, place, row, born } = step
      byPlace.delete(place)
      // The step that evaluates the run's output is not part of the definition.
      if (node.id.startsWith('$')) return
      const number = begun++
      if (number < after || number >= after + limit) return
      open++
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
      all.push(traced)
      byStep.set(step, traced)
      byPlace.set(place, traced)
    },
    settled(step, settled) {
      const traced = byStep.get(step)
      if (!traced) return
      if (traced.endedAt === null) open--
      settle(traced, settled, now)
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
  const next = () => (begun > after + limit ? after + limit : null)
  return { ...{ observer, note, at, next }, all: () => all, areFinal: () => next() !== null && open === 0 }
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

// Details are JSON, as read from the journal.
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
      // `data` is JSON, as read from the journal.
      return {
        for: 'approval',
        dueAt: isoOrNull(waiting.dueAt),
        approval: waiting.approval as NonNullable<RunWaiting['approval']>,
      }
  }
}
