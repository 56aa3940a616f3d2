import { readFailure } from './failures.js'
import { Problems } from './problems.js'
import type { RecordAccess } from './record-access.js'
import type { Caller, ResolvedTable } from './resolved-table.js'
import type { RelatedTables, Selection } from './selection.js'
import { readExpand, readFields, selectAllFields } from './selection.js'

export interface ShownQuery {
  fields?: string | undefined
  expand?: string | undefined
}

/** Resolves the query parameters that select the returned fields. */
export async function resolveSelection(
  { open }: RecordAccess,
  { table, readRule }: ResolvedTable,
  { fields, expand }: ShownQuery,
  meta: Caller,
): Promise<Selection> {
  const problems = new Problems()
  const plain = {
    ...selectAllFields(table, readRule),
    fields: readFields(table, fields, { in: 'query', path: '/fields' }, problems),
  }
  const related = async (slug: string): Promise<RelatedTables | undefined> => {
    const other = await open(slug, meta).catch(() => undefined)
    return other && { table: other.table, rule: other.readRule }
  }
  const selection = await readExpand(plain, expand, related, {
    place: { in: 'query', path: '/expand' },
    problems,
  })
  problems.check()
  return selection
}

export const rethrowReadFailure = (error: unknown): never => {
  throw readFailure(error)
}
