import type { Column, TableState } from '@opsplane/contracts'
import { quoteIdentifier, quoteLiteral } from '@opsplane/postgres'
import { findReferenceKey } from '../row/fields.js'
import { isText, relation, type TableName, toSqlType } from './column-sql.js'

/** A check for rows that prevent a change, or lose values by it. */
export interface RowCheck {
  /** Message about the rows found. */
  says: string
  /** True if values would be lost, which `force` permits. Otherwise the change is impossible. */
  loses: boolean
  /** Query that finds them: rows of `id` and `value`, a text. */
  rows: string
}

/** Dropping a column loses its values. */
export const checkDroppedColumn = (place: TableName, column: Column): RowCheck => ({
  says: `${column.name} has values, which are lost`,
  loses: true,
  rows:
    column.type === 'computed'
      ? none(place)
      : where(place, column, `${quoteIdentifier(column.name)} is not null`),
})

export function checkNewColumn(place: TableName, column: Column): RowCheck[] {
  if (column.nullable || column.default !== null || column.type === 'computed') return []
  const rows = `select id, null::text as value from ${relation(place)}`
  return [{ says: `${column.name} can be null in no record, and has no default`, loses: false, rows }]
}

/** Rows that prevent a column's change; the column still has its previous name. */
export function checkChangedColumn(place: TableName, from: Column, to: Column): RowCheck[] {
  const name = quoteIdentifier(from.name)
  const found: RowCheck[] = []
  const add = (message: string, condition: string, loses = false) =>
    found.push({ says: message, loses, rows: where(place, from, condition) })
  const [typeBefore, type] = [toSqlType(from), toSqlType(to)]
  if (type !== typeBefore && !isWider(from, to)) {
    const plain = type.replace(/\(.*/, '')
    const readable = `studio.is_readable(${name}::text, ${quoteLiteral(type)})`
    add(`${from.name} cannot be read as ${type}`, `${name} is not null and not ${readable}`)
    // Converting the value back must return the original.
    const back = `case when ${readable} then studio.reread(${name}::text, ${quoteLiteral(type)}, ${quoteLiteral(typeBefore)}) is distinct from ${name}::text end`
    add(
      `${from.name} is not the same as ${plain}, what it was is lost`,
      `${name} is not null and ${back}`,
      true,
    )
  }
  if (from.nullable && !to.nullable) add(`${from.name} is null`, `${name} is null`)
  if (to.type === 'enum' && !isSubset(from, to))
    add(
      `${from.name} is none of the values`,
      `${name}::text not in (${to.values.map(quoteLiteral).join(', ')})`,
    )
  if (
    to.type === 'reference' &&
    !(from.type === 'reference' && from.table === to.table && findReferenceKey(from) === findReferenceKey(to))
  ) {
    const other = relation({ schema: place.schema, slug: to.table })
    add(
      `${from.name} names no record of ${to.table}`,
      `${name} is not null and not exists (select from ${other} o where o.${quoteIdentifier(findReferenceKey(to))}::text = t.${name}::text)`,
    )
  }
  if (to.unique && !from.unique) found.push(duplicates(place, [from.name], to.name))
  return found
}

/** Rows that violate the new constraints; the columns have already been changed. */
export function checkNewConstraints(place: TableName, before: TableState, after: TableState): RowCheck[] {
  const had = new Set(
    [...before.uniques, ...before.indexes, ...before.checks].map((part) => JSON.stringify(part)),
  )
  const isNew = (part: object) => !had.has(JSON.stringify(part))
  const indexes = after.indexes.filter((index) => index.unique && isNew(index))
  return [
    ...after.uniques.filter(isNew).map(({ columns, name }) => duplicates(place, columns, name)),
    ...indexes.map((index) =>
      duplicates(
        place,
        index.columns.map(({ name }) => name),
        index.name,
      ),
    ),
    ...after.checks.filter(isNew).map(({ name, expression }) => ({
      says: `the check ${name} does not hold`,
      loses: false,
      rows: `select id, null::text as value from ${relation(place)} t where not (${expression})`,
    })),
  ]
}

function duplicates(place: TableName, columns: readonly string[], name: string): RowCheck {
  const list = columns.map(quoteIdentifier).join(', ')
  const present = columns.map((column) => `${quoteIdentifier(column)} is not null`).join(' and ')
  const value = columns.map((column) => `${quoteIdentifier(column)}::text`).join(` || ', ' || `)
  return {
    says: `${name} is not unique`,
    loses: false,
    rows: `select id, value from (select id, ${value} as value, count(*) over (partition by ${list}) as times
      from ${relation(place)} where ${present}) t where times > 1`,
  }
}

const where = (place: TableName, { name }: Column, condition: string): string =>
  `select id, ${quoteIdentifier(name)}::text as value from ${relation(place)} t where ${condition}`
const none = (place: TableName): string =>
  `select id, null::text as value from ${relation(place)} where false`

/** Type changes that preserve every value. */
function isWider(from: Column, to: Column): boolean {
  if (to.type === 'text' && to.maxLength === null && from.type !== 'json') return true
  if (isText(from) && isText(to) && to.type !== 'text') return true
  if (from.type === 'integer' && to.type === 'bigint') return true
  if (['integer', 'bigint'].includes(from.type) && to.type === 'decimal') return to.precision === null
  return false
}

const isSubset = (from: Column, to: Column & { type: 'enum' }): boolean =>
  from.type === 'enum' && from.values.every((value) => to.values.includes(value))

/** Whether a definition refers to another table. */
export const refersTo = ({ columns }: Pick<TableState, 'columns'>, slug: string): boolean =>
  columns.some((column) => column.type === 'reference' && column.table === slug)
