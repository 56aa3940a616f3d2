import type { Column, TableState } from '@opsplane/contracts'
import { quoted } from '@opsplane/postgres'
import { columnSql, defaultSql, type Place, relation, sqlTypeOf } from './column-sql.js'
import type { Patched } from './patched.js'
import { checksOfColumn, checksOfNewColumn, checksOfParts, dropLoses, type RowCheck } from './row-checks.js'
import { createIndex, partsOf, uniqueIndexes } from './table-sql.js'

/** Statements, and what is looked for among the rows before them. */
interface Step {
  statements: string[]
  checks: RowCheck[]
}

/** What it takes to change a table: names and columns, */
export interface ChangePlan extends Step {
  /** then constraints and indexes, which are held against the rows those have. */
  parts: Step
  /** Whether every row is written anew, for which the table is locked. */
  rewrites: boolean
}

/** The statements that make of a table what its definition shall be: it is in `schema`, by the slug it has. */
export function planChange(schema: string, before: TableState, { after, renamed }: Patched): ChangePlan {
  const plan: ChangePlan = {
    ...{ statements: [], checks: [], rewrites: false },
    parts: { statements: [], checks: [] },
  }
  const [old, place]: [Place, Place] = [
    { schema, slug: before.slug },
    { schema, slug: after.slug },
  ]
  const was = new Map(
    before.columns.map((column) => [column.name, onItself(column, before.slug, after.slug)]),
  )
  const pairs = after.columns.map(
    (column) => [was.get(renamed.get(column.name) ?? column.name), column] as const,
  )
  const kept = new Set(pairs.flatMap(([column]) => (column ? [column.name] : [])))
  const alter = (text: string, to: Step = plan) =>
    to.statements.push(`alter table ${relation(place)} ${text}`)

  const called = renamedBefore(before, after.slug, renamed)
  const [parts, partsBefore, partsAfter] = [
    partsOf(old, before),
    partsOf(place, called),
    partsOf(place, after),
  ]
  const goneConstraints = missing(partsBefore.constraints, partsAfter.constraints)
  const goneIndexes = missing(partsBefore.indexes, partsAfter.indexes)
  const comeConstraints = missing(partsAfter.constraints, partsBefore.constraints)
  const comeIndexes = missing(partsAfter.indexes, partsBefore.indexes)

  if (after.slug !== before.slug)
    plan.statements.push(`alter table ${relation(old)} rename to ${quoted(after.slug)}`)
  // Names that nobody chose follow those of table and columns.
  for (const [from, to] of zip(parts.constraints, partsBefore.constraints))
    alter(`rename constraint ${quoted(from)} to ${quoted(to)}`)
  for (const [from, to] of zip(parts.indexes, partsBefore.indexes))
    plan.statements.push(`alter index if exists ${quoted(schema)}.${quoted(from)} rename to ${quoted(to)}`)
  for (const name of goneConstraints.keys()) alter(`drop constraint ${quoted(name)}`)
  // A reference that a migration has made has no index.
  for (const name of goneIndexes.keys())
    plan.statements.push(`drop index if exists ${quoted(schema)}.${quoted(name)}`)
  const gone = before.columns.filter(({ name }) => !kept.has(name))
  for (const column of gone.sort((a, b) => isComputed(b) - isComputed(a))) {
    alter(`drop column ${quoted(column.name)}`)
    plan.checks.push(dropLoses(old, column))
  }
  for (const [to, from] of renamed) alter(`rename column ${quoted(from)} to ${quoted(to)}`)
  for (const [from, column] of pairs.sort(([, a], [, b]) => isComputed(a) - isComputed(b))) {
    if (from) changeColumn(from, column)
    else {
      alter(`add column ${columnSql(column)}`)
      plan.checks.push(...checksOfNewColumn(old, column))
      plan.rewrites ||= column.type === 'computed'
    }
  }
  for (const [name, definition] of comeConstraints)
    alter(`add constraint ${quoted(name)} ${definition}`, plan.parts)
  const unique = uniqueIndexes(after)
  for (const [name, definition] of comeIndexes)
    plan.parts.statements.push(createIndex(place, name, definition, unique.has(name)))
  plan.parts.checks.push(...checksOfParts(place, before, after))
  return plan

  function changeColumn(from: Column, to: Column): void {
    const column = quoted(to.name)
    if ((from.type === 'computed') !== (to.type === 'computed') || isOtherExpression(from, to)) {
      alter(`drop column ${column}`)
      alter(`add column ${columnSql(to)}`)
      if (from.type !== 'computed') plan.checks.push(dropLoses(old, from))
      plan.rewrites = true
      return
    }
    plan.checks.push(...checksOfColumn(old, from, to))
    const [typeBefore, type] = [sqlTypeOf(from), sqlTypeOf(to)]
    const [valueBefore, value] = [defaultSql(from), defaultSql(to)]
    if (type !== typeBefore) {
      // A default of the old type is in the way of the new one.
      if (valueBefore !== undefined) alter(`alter column ${column} drop default`)
      alter(`alter column ${column} type ${type} using ${castTo(column, from, to)}`)
      plan.rewrites ||= !widens(from, to)
      if (value !== undefined) alter(`alter column ${column} set default ${value}`)
    } else if (value !== valueBefore)
      alter(`alter column ${column} ${value === undefined ? 'drop default' : `set default ${value}`}`)
    if (from.nullable !== to.nullable)
      alter(`alter column ${column} ${to.nullable ? 'drop' : 'set'} not null`)
  }
}

/** What is computed of other columns comes after them, and goes before. */
const isComputed = ({ type }: Column): number => Number(type === 'computed')

/** All of them, in their order. */
export const statementsOf = ({ statements, parts }: ChangePlan): string[] => [
  ...statements,
  ...parts.statements,
]

const isOtherExpression = (from: Column, to: Column): boolean =>
  from.type === 'computed' &&
  to.type === 'computed' &&
  (from.expression !== to.expression || from.resultType !== to.resultType)

/** The value of a column as one of another type: by its text, which every type can be read from. */
export function castTo(column: string, from: Column, to: Column): string {
  const type = sqlTypeOf(to)
  const direct = ['timestamp', 'date'].includes(from.type) && ['timestamp', 'date'].includes(to.type)
  return direct ? `${column}::${type}` : `${column}::text::${type}`
}

/** Changes of type for which Postgres writes no row anew. */
const widens = (from: Column, to: Column): boolean =>
  ['text', 'enum', 'reference'].includes(from.type) && ['text', 'enum', 'reference'].includes(to.type)

/** Names of the same things that differ. */
const zip = (from: ReadonlyMap<string, string>, to: ReadonlyMap<string, string>): [string, string][] => {
  const names = [...to.keys()]
  return [...from.keys()].flatMap((name, at) => (names[at] === name ? [] : [[name, names[at] ?? name]]))
}

/** The definition before, with table and columns called what they shall be. */
function renamedBefore(before: TableState, slug: string, renamed: ReadonlyMap<string, string>): TableState {
  const now = new Map([...renamed].map(([to, from]) => [from, to]))
  const call = (name: string) => now.get(name) ?? name
  return {
    ...before,
    columns: before.columns.map((column) => ({
      ...onItself(column, before.slug, slug),
      name: call(column.name),
    })),
    indexes: before.indexes.map((index) => ({
      ...index,
      columns: index.columns.map((column) => ({ ...column, name: call(column.name) })),
    })),
    uniques: before.uniques.map((unique) => ({ ...unique, columns: unique.columns.map(call) })),
  }
}

/** A reference of a table to itself follows its slug. */
const onItself = (column: Column, from: string, to: string): Column =>
  column.type === 'reference' && column.table === from ? { ...column, table: to } : column

/** What is in the first and not, or not the same, in the second. */
function missing(all: ReadonlyMap<string, string>, others: ReadonlyMap<string, string>): Map<string, string> {
  return new Map([...all].filter(([name, definition]) => others.get(name) !== definition))
}
