import type { StatementRunner } from '@opsplane/postgres'
import type { Entry } from '../../engine/history.js'
import { runStatement } from './store.js'

/** A line of a journal without what stands aside. */
interface Line {
  seq: number
  entry: { kind: Entry['kind']; place?: string; items?: unknown[]; secrets?: string[] }
  /** Of a `for_each` whose items stand aside. */
  itemCount: number | null
}

/** A line as it is from now on. */
interface Rewritten {
  seq: number
  entry: object
}

const linesAtOnce = 500

/**
 * Leaves out of the journal of a run that has ended what its steps were given and gave, but for what a retry needs: of a run
 * that has completed all of it, of any other one the inputs of steps that have completed. What the run was started with and
 * came to stays: requests are answered and secrets are masked by it.
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

/** A step that has not completed may be repeated with what it was given. */
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
