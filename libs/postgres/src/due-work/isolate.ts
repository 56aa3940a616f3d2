interface IsolationResult<Row, Result> {
  done: { row: Row; result: Result }[]
  failed: { row: Row; error: unknown }[]
  /** Unchanged rows: the error that stopped the attempt does not concern them. */
  untried: Row[]
}

/** The meaning of an error for the rows of the attempt. */
export type ErrorClass =
  /** One of them caused it. */
  | 'fault'
  /** None of them caused it: another transaction was faster, or held a lock. */
  | 'passing'
  /** Nothing can be done at all; the error is thrown. */
  | 'away'

const manyFailed = 2

/**
 * Attempts all rows together and, if that fails, ever smaller parts, until the rows at fault are isolated. If
 * nothing succeeds, the rows are not the cause: after two rows that failed alone, the rest is left untried.
 */
export async function isolateFailures<Row, Result>(
  rows: readonly Row[],
  attempt: (rows: readonly Row[]) => Promise<readonly Result[]>,
  meaningOf: (error: unknown) => ErrorClass,
): Promise<IsolationResult<Row, Result>> {
  const outcome: IsolationResult<Row, Result> = { done: [], failed: [], untried: [] }
  const parts: (readonly Row[])[] = rows.length > 0 ? [rows] : []
  for (let part = parts.pop(); part; part = parts.pop()) {
    if (outcome.failed.length >= manyFailed && outcome.done.length === 0) {
      outcome.untried.push(...part)
      continue
    }
    try {
      const results = await attempt(part)
      // `attempt` returns one result for each row.
      for (const [index, row] of part.entries()) outcome.done.push({ row, result: results[index] as Result })
    } catch (error) {
      const meaning = meaningOf(error)
      if (meaning === 'away') throw error
      const [row] = part
      if (meaning === 'passing') outcome.untried.push(...part)
      else if (part.length === 1 && row !== undefined) outcome.failed.push({ row, error })
      else {
        const middle = part.length >> 1
        parts.push(part.slice(middle), part.slice(0, middle))
      }
    }
  }
  return outcome
}
