import { quoteIdentifier, type StatementRunner } from '@opsplane/postgres'
import { settledPosition } from '../log-end.js'
import { createFold, foldedTables, initialFold, type RebuildOptions, withExclusiveLocks } from './rebuild.js'
import { createShadowTables } from './shadow-tables.js'

/** A read model that differs from the result of folding the log. */
interface Difference {
  table: string
  /** Rows of the table that the fold does not produce, or produces with other content. */
  wrong: number
  /** Rows of the fold that the table lacks, or contains with other content. */
  missing: number
}

class Compared extends Error {}

/**
 * Folds the log into copies of the read models and compares every row, all as of one snapshot: concurrent writes
 * are neither blocked nor do they affect the result. Changes nothing. Empty if all are equal.
 */
export const compareReadModels = (options: RebuildOptions): Promise<Difference[]> =>
  withExclusiveLocks(options, async (sql) => {
    const tables = foldedTables(options)
    const shadows = await createShadowTables(sql, options.schema, tables)
    const differences: Difference[] = []
    try {
      const fold = createFold(shadows, options)
      const folded = await fold(sql, initialFold, String(await settledPosition(sql)))
      await sql.begin('isolation level repeatable read', async (tx) => {
        await fold(tx, folded, null)
        for (const table of tables) {
          const difference = await compare(
            tx,
            table,
            `${quoteIdentifier(options.schema)}.${quoteIdentifier(table)}`,
            shadows.of(table),
          )
          if (difference.wrong + difference.missing > 0) differences.push(difference)
        }
        throw new Compared()
      })
    } catch (error) {
      if (!(error instanceof Compared)) throw error
    } finally {
      await shadows.drop()
    }
    return differences
  })

async function compare(
  sql: StatementRunner,
  table: string,
  live: string,
  shadow: string,
): Promise<Difference> {
  const only = (one: string, other: string) => `
    (select count(*)::int from (
      select to_jsonb(one) from ${one} one except all select to_jsonb(other) from ${other} other) rest)`
  const [row] = await sql.unsafe<{ wrong: number; missing: number }[]>(
    `select ${only(live, shadow)} as wrong, ${only(shadow, live)} as missing`,
  )
  return { table, wrong: row?.wrong ?? 0, missing: row?.missing ?? 0 }
}
