import type { StatementRunner } from '@opsplane/postgres'
import type { Entry } from '../../engine/history.js'
import { runStatement } from './store.js'

/** A journal line without its separate value. */
interface Line {
  seq: number
  entry: { kind: Entry['kind']; place?: string; items?: unknown[]; secrets?: string[] }
  /** Number of items of a `for_each` whose items are stored separately. */
  itemCount: number | null
}

/** A line with its new entry. */
interface Rewritten {
  seq: number
  entry: object
}

const linesAtOnce = 500

/**
 * Removes values of steps that no retry needs from the journal of an ended run: all inputs and outputs of a completed
 * run, otherwise the inputs of completed steps. The start data and the result of the run remain, because they are
 * needed to answer requests and to mask secrets.
 */
export async function omitValues(tx: StatementRunner, runId: string, hasCompleted: boolean): Promise<void> {
  const rewritten = hasCompleted ? withoutValues : inputsOfCompleted()
  for (let after = 0; ; after += linesAtOnce) {
    const lines = await runStatement<Line>(
      tx,
      `select seq, entry, case when large_field = 'items' then json_array_length(large) end as "itemCount"
       from run_entries where run_id = $1 and seq > $2::int order by seq limit ${linesAtOnce}`,
      [runId, String(after)],
    )
    await rewrite(tx, runId, lines.flatMap(rewritten))
    if (lines.length < linesAtOnce) return
  }
}

function withoutValues({ seq, entry: { kind, place, items, secrets }, itemCount }: Line): Rewritten[] {
  if (kind === 'begun' || kind === 'completed')
    return [{ seq, entry: { kind, place, secrets, omitted: true } }]
  if (kind !== 'items') return []
  const length = itemCount ?? items?.length ?? 0
  return [{ seq, entry: { kind, place, items: new Array<null>(length).fill(null) } }]
}

/** A step that has not completed may be repeated with its input. */
function inputsOfCompleted(): (line: Line) => Rewritten[] {
  const begun = new Map<string, number[]>()
  return ({ seq, entry: { kind, place = '' } }) => {
    if (kind === 'begun') begun.set(place, [...(begun.get(place) ?? []), seq])
    if (kind !== 'completed') return []
    const completed = begun.get(place) ?? []
    begun.delete(place)
    return completed.map((each) => ({ seq: each, entry: { kind: 'begun', place, omitted: true } }))
  }
}

async function rewrite(tx: StatementRunner, runId: string, lines: readonly Rewritten[]): Promise<void> {
  if (lines.length === 0) return
  await runStatement(
    tx,
    `update run_entries e set entry = given.entry::json, large_field = null, large = null, large_bytes = null
     from unnest($2::int[], $3::text[]) as given(seq, entry) where e.run_id = $1 and e.seq = given.seq`,
    [runId, lines.map(({ seq }) => String(seq)), lines.map(({ entry }) => JSON.stringify(entry))],
  )
}
