import { isDeepStrictEqual } from 'node:util'
import {
  type Column,
  type ColumnDefault,
  invalidField,
  type NewTable,
  type TableState,
} from '@opsplane/contracts'
import { buildConstraintName } from '../row/constraint-name.js'
import { toValueKind } from '../row/fields.js'
import { Problems } from '../row/problems.js'
import { checkRules } from '../row/rules.js'
import { parseValue } from '../row/values.js'
import { checkExpression } from '../sql/expression.js'
import { toSqlType } from './column-sql.js'
import { partNames } from './table-sql.js'

type Defined = Pick<TableState, 'slug' | 'columns' | 'indexes' | 'uniques' | 'checks' | 'rules'>

/** The previous definitions of columns, by new definition. */
export type Origins = ReadonlyMap<Column, Column | undefined>

/** Adds default names to unnamed parts. */
export function nameParts({ slug, indexes, uniques }: Pick<NewTable, 'slug' | 'indexes' | 'uniques'>) {
  const onto = (columns: readonly (string | { name: string })[]) =>
    columns.map((column) => (typeof column === 'string' ? column : column.name)).join('_')
  return {
    indexes: indexes.map((index) => ({
      ...index,
      name: index.name ?? buildConstraintName(slug, onto(index.columns), 'idx'),
    })),
    uniques: uniques.map((unique) => ({
      ...unique,
      name: unique.name ?? buildConstraintName(slug, onto(unique.columns), 'key'),
    })),
  }
}

/**
 * Checks a definition beyond its schema: unique names, existing columns, safe expressions. Throws `validation_failed`.
 * Postgres checks whether referenced tables exist. `origins` are the previous definitions of its columns.
 */
export async function checkDefinition(table: Defined, origins: Origins = new Map()): Promise<void> {
  const { columns, indexes, uniques, checks } = table
  const names = columns.map(({ name }) => name)
  const twice = names.find((name, at) => names.indexOf(name) !== at)
  if (twice !== undefined) throw invalidField('/columns', 'duplicate', `The column ${twice} is named twice.`)
  refuseSameNames(table)
  const known = new Set([...names, 'id', 'version', 'created_at', 'updated_at'])
  const knows = (path: string, of: readonly string[]) => {
    for (const name of of)
      if (!known.has(name)) throw invalidField(path, 'unknown_column', `There is no column ${name}.`)
  }
  for (const [at, { columns: of }] of indexes.entries())
    knows(
      `/indexes/${at}`,
      of.map(({ name }) => name),
    )
  for (const [at, { columns: of }] of uniques.entries()) knows(`/uniques/${at}`, of)
  for (const [at, column] of columns.entries()) {
    checkType(column, origins.get(column), `/columns/${at}`)
    if (!isDeepStrictEqual(column, origins.get(column))) checkDigits(column, `/columns/${at}`)
    await checkColumn(column, columns, `/columns/${at}`)
    await checkDefault(column, origins.get(column), `/columns/${at}/default`)
  }
  for (const [at, { expression }] of checks.entries())
    await checkExpression(expression, { columns: names, kind: 'check', path: `/checks/${at}/expression` })
  const problems = new Problems()
  checkRules(table, { in: 'body', path: '/rules' }, problems)
  problems.check()
}

/**
 * A type that only migrations can create must not change: it is unknown which of its
 * values another type would preserve.
 */
function checkType(column: Column, before: Column | undefined, path: string): void {
  const isOfMigrations = (one: Column) =>
    one.type === 'other' || (one.type !== 'decimal' && 'precision' in one && one.precision !== undefined)
  const restrictedType = (one: Column | undefined) =>
    one && isOfMigrations(one) ? toSqlType(one) : undefined
  if (restrictedType(column) === restrictedType(before)) return
  const message = `The type ${restrictedType(column) ?? restrictedType(before)} can be created and changed only by migrations.`
  throw invalidField(`${path}/type`, 'not_allowed', message)
}

/** Called only for changed columns: a migration may have created a column with other digits, which is kept. */
function checkDigits(column: Column, path: string): void {
  if (column.type === 'decimal' && (column.scale ?? 0) > (column.precision ?? 1_000))
    throw invalidField(
      `${path}/scale`,
      'too_big',
      'A decimal has no more digits behind the point than in all.',
    )
}

async function checkColumn(column: Column, columns: readonly Column[], path: string): Promise<void> {
  if (column.type === 'computed') {
    const others = columns.filter(({ type }) => type !== 'computed').map(({ name }) => name)
    await checkExpression(column.expression, {
      columns: others,
      kind: 'computed',
      path: `${path}/expression`,
    })
  }
  if (column.type === 'reference' && column.onDelete === 'set_null' && !column.nullable)
    throw invalidField(
      `${path}/onDelete`,
      'not_allowed',
      'A column that is not nullable cannot use "set null".',
    )
}

const isExpression = (value: ColumnDefault | null): value is { expression: string } =>
  typeof value === 'object' && value !== null && 'expression' in value

/**
 * A default is either a value that a record could have, or an expression. An unchanged default is not checked: a
 * migration may have created it by any expression, and no statement repeats it.
 */
async function checkDefault(column: Column, before: Column | undefined, path: string): Promise<void> {
  const { name, type, default: given } = column
  if (given === null || isDeepStrictEqual(column, before)) return
  if (type === 'computed') throw invalidField(path, 'not_allowed', 'A computed column has no default.')
  if (isExpression(given)) {
    if (!isDeepStrictEqual(given, before?.default))
      await checkExpression(given.expression, { columns: [], kind: 'default', path: `${path}/expression` })
    return
  }
  if ((typeof given === 'object') !== (type === 'json' || type === 'array')) {
    const message = 'The default of a json or array column must be written as {"json": …}.'
    throw invalidField(path, 'invalid_type', message)
  }
  const value = typeof given === 'object' ? given.json : given
  const parsed = parseValue({ kind: toValueKind(column), definition: column }, value)
  if ('problem' in parsed)
    throw invalidField(path, 'invalid_value', `The default of ${name} ${parsed.problem}.`)
}

/** Rejects duplicate constraint names. Default names are truncated, so they can coincide if slugs are long. */
function refuseSameNames(table: Defined): void {
  const usedNames = new Set<string>()
  for (const { path, name } of partNames(table)) {
    if (usedNames.has(name))
      throw invalidField(path, 'duplicate', `Another constraint or index of the table is called ${name}.`)
    usedNames.add(name)
  }
}
