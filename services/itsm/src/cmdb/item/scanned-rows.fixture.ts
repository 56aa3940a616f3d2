import type { StatementRunner } from '../columns.js'

interface Node {
  'Actual Rows': number
  'Actual Loops': number
  'Rows Removed by Filter'?: number
  'Rows Removed by Join Filter'?: number
  'Rows Removed by Index Recheck'?: number
  Plans?: Node[]
}

/** Total number of rows that the nodes of a plan have scanned. */
function countScannedRows(node: Node): number {
  const rows =
    node['Actual Rows'] +
    (node['Rows Removed by Filter'] ?? 0) +
    (node['Rows Removed by Join Filter'] ?? 0) +
    (node['Rows Removed by Index Recheck'] ?? 0)
  return (
    rows * node['Actual Loops'] + (node.Plans ?? []).reduce((sum, plan) => sum + countScannedRows(plan), 0)
  )
}

/** Returns the maximum number of rows scanned by a single statement among all statements that `ask` runs. */
export async function maxScannedRows(
  sql: StatementRunner,
  ask: (sql: StatementRunner) => Promise<unknown>,
): Promise<number> {
  const asked: Parameters<StatementRunner['unsafe']>[] = []
  const unsafe: StatementRunner['unsafe'] = (text, parameters, options) => {
    asked.push([text, parameters])
    return sql.unsafe(text, parameters, options)
  }
  await ask({ unsafe })
  let most = 0
  for (const [text, parameters] of asked) {
    const [row] = await sql.unsafe<{ 'QUERY PLAN': [{ Plan: Node }] }[]>(
      `explain (analyze, format json) ${text}`,
      parameters,
    )
    if (row === undefined) throw new Error('there is no plan')
    most = Math.max(most, countScannedRows(row['QUERY PLAN'][0].Plan))
  }
  return most
}
