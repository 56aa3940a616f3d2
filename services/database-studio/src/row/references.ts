import type { Column } from '@opsplane/contracts'
import { quoteIdentifier } from '@opsplane/postgres'
import { conditionsSql } from './conditions.js'
import { findReferenceKey, sqlType, toValueKind } from './fields.js'
import type { Values } from './input.js'
import { Parameters, type Statement } from './parameters.js'
import { type Place, Problems, pathBelow } from './problems.js'
import type { RecordAccess } from './record-access.js'
import type { Caller, ResolvedTable } from './resolved-table.js'

/** A reference to a record that does not exist or is hidden from the caller. */
export interface MissingReference {
  /** Index of the values that contain it. */
  index: number
  column: string
}

/** Same error as for a foreign key violation reported by Postgres. */
export const missingReference = {
  code: 'not_found',
  message: 'refers to a record that does not exist',
} as const

interface ReferenceValue {
  at: number
  id: unknown
  ref: unknown
}

/**
 * The references in these values to records that are absent or hidden from the caller by a row rule, which must be
 * indistinguishable. Empty if the caller has no rule for the referenced tables, since Postgres itself finds absent
 * records. A record may keep its present reference, if its `id` is given and the caller may see it. Records in `made`
 * are created by the same request.
 */
export async function findMissingReferences(
  { open, read }: Pick<RecordAccess, 'open' | 'read'>,
  resolvedTable: ResolvedTable,
  rows: readonly Values[],
  meta: Caller,
  made: ReadonlySet<unknown> = new Set(),
): Promise<MissingReference[]> {
  const missing: MissingReference[] = []
  for (const definition of resolvedTable.table.columns) {
    if (definition.type !== 'reference') continue
    const { name: column } = definition
    const references = rows.flatMap((row, at): ReferenceValue[] => {
      const ref = row[column] ?? null
      return ref === null || made.has(ref) ? [] : [{ at, id: row.id ?? null, ref }]
    })
    if (references.length === 0) continue
    const target = await open(definition.table, meta).catch(() => undefined)
    if (!target || target.readRule.length === 0) continue
    const found = await read<{ at: number }>(
      resolvedTable.space,
      missingStatement(resolvedTable, { definition, target, given: references }),
    )
    missing.push(...found.map(({ at: index }) => ({ index, column })))
  }
  return missing
}

/** Throws `validation_failed` with all missing references and the places of their fields. */
export async function checkReferences(
  access: Pick<RecordAccess, 'open' | 'read'>,
  resolvedTable: ResolvedTable,
  {
    rows,
    placeOf,
    made,
  }: { rows: readonly Values[]; placeOf(index: number): Place; made?: ReadonlySet<unknown> },
  meta: Caller,
): Promise<void> {
  const problems = new Problems()
  for (const { index, column } of await findMissingReferences(access, resolvedTable, rows, meta, made))
    problems.add(pathBelow(placeOf(index), column), missingReference.code, missingReference.message)
  problems.check()
}

function missingStatement(
  { space, table, readRule }: ResolvedTable,
  {
    definition,
    target,
    given,
  }: { definition: Column; target: ResolvedTable; given: readonly ReferenceValue[] },
): Statement {
  const type = sqlType({ kind: toValueKind(definition) })
  const column = quoteIdentifier(definition.name)
  const parameters = new Parameters()
  const from = (slug: string) => `${quoteIdentifier(space.schema)}.${quoteIdentifier(slug)}`
  const rows = parameters.bind(JSON.stringify(given), 'json')
  const seen = conditionsSql(target.readRule, 't', parameters)
  const kept = conditionsSql(readRule, 'r', parameters)
  return {
    text: `select given.at from json_to_recordset(${rows}) as given(at int4, id text, ref ${type})
      where not exists (select from ${from(target.table.slug)} t where t.${quoteIdentifier(findReferenceKey(definition))} = given.ref and ${seen})
        and not exists (select from ${from(table.slug)} r where r.id = given.id and r.${column} = given.ref and ${kept})
      order by given.at`,
    parameters: parameters.values,
  }
}
