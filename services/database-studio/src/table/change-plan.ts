import { baseColumns, type Column, type TableState } from '@opsplane/contracts'
import { quoteIdentifier } from '@opsplane/postgres'
import type { PatchedTable } from './apply-patch.js'
import { columnSql, defaultSql, isText, relation, type TableName, toSqlType } from './column-sql.js'
import {
  checkChangedColumn,
  checkDroppedColumn,
  checkNewColumn,
  checkNewConstraints,
  type RowCheck,
} from './row-checks.js'
import { buildParts, createIndex, type TableParts, uniqueIndexes } from './table-sql.js'

/** Statements, and the row checks to run before them. */
interface Step {
  statements: string[]
  checks: RowCheck[]
}

/** The steps of a table change: first names and columns, */
export interface ChangePlan extends Step {
  /** then constraints and indexes, which are checked against the converted rows. */
  parts: Step
  /** Whether Postgres rewrites every row, which locks the table meanwhile. */
  rewrites: boolean
}

/** The statements that change a table to its new definition. The table is in `schema` under its present slug. */
export function planChange(schema: string, before: TableState, { after, renamed }: PatchedTable): ChangePlan {
  const plan: ChangePlan = {
    ...{ statements: [], checks: [], rewrites: false },
    parts: { statements: [], checks: [] },
  }
  const [old, place]: [TableName, TableName] = [
    { schema, slug: before.slug },
    { schema, slug: after.slug },
  ]
  const alter = (text: string, to: Step = plan) =>
    to.statements.push(`alter table ${relation(place)} ${text}`)
  const dropParts = ({ constraints, indexes }: TableParts) => {
    for (const name of constraints.keys()) alter(`drop constraint ${quoteIdentifier(name)}`)
    // A reference created by a migration has no index.
    for (const name of indexes.keys())
      plan.statements.push(`drop index if exists ${quoteIdentifier(schema)}.${quoteIdentifier(name)}`)
  }

  const { pairs, namesHold } = pairColumns(before, { after, renamed })
  const kept = new Set(pairs.flatMap(([column]) => (column ? [column.name] : [])))
  const staying = stayingOf(before, kept, namesHold)
  const called = renamedBefore(staying, after.slug, renamed)
  const [parts, partsBefore, partsAfter] = [
    buildParts(old, staying),
    buildParts(place, called),
    buildParts(place, after),
  ]

  if (after.slug !== before.slug)
    plan.statements.push(`alter table ${relation(old)} rename to ${quoteIdentifier(after.slug)}`)
  dropParts(missing(buildParts(old, before), parts))
  // Default names follow the names of the table and its columns.
  for (const [from, to] of inTurn(zip(parts.constraints, partsBefore.constraints)))
    alter(`rename constraint ${quoteIdentifier(from)} to ${quoteIdentifier(to)}`)
  for (const [from, to] of inTurn(zip(parts.indexes, partsBefore.indexes)))
    plan.statements.push(
      `alter index if exists ${quoteIdentifier(schema)}.${quoteIdentifier(from)} rename to ${quoteIdentifier(to)}`,
    )
  dropParts(missing(partsBefore, partsAfter))
  const droppedColumns = before.columns.filter(({ name }) => !kept.has(name))
  for (const column of droppedColumns.sort((a, b) => isComputed(b) - isComputed(a))) {
    alter(`drop column ${quoteIdentifier(column.name)}`)
    plan.checks.push(checkDroppedColumn(old, column))
  }
  const renames = [...renamed].flatMap(([to, from]): [string, string][] =>
    kept.has(from) ? [[from, to]] : [],
  )
  for (const [from, to] of inTurn(renames))
    alter(`rename column ${quoteIdentifier(from)} to ${quoteIdentifier(to)}`)
  for (const [from, column] of pairs.sort(([, a], [, b]) => isComputed(a) - isComputed(b))) {
    if (from) changeColumn(from, column)
    else {
      alter(`add column ${columnSql(column)}`)
      plan.checks.push(...checkNewColumn(old, column))
      plan.rewrites ||= column.type === 'computed'
    }
  }
  const addedParts = missing(partsAfter, partsBefore)
  for (const [name, definition] of addedParts.constraints)
    alter(`add constraint ${quoteIdentifier(name)} ${definition}`, plan.parts)
  const unique = uniqueIndexes(after)
  for (const [name, definition] of addedParts.indexes)
    plan.parts.statements.push(createIndex(place, name, definition, unique.has(name)))
  plan.parts.checks.push(...checkNewConstraints(place, called, after))
  return plan

  function changeColumn(from: Column, to: Column): void {
    const column = quoteIdentifier(to.name)
    plan.checks.push(...checkChangedColumn(old, from, to))
    const [typeBefore, type] = [toSqlType(from), toSqlType(to)]
    const [valueBefore, value] = [defaultSql(from), defaultSql(to)]
    // A default of the old type would prevent the type change.
    if (valueBefore !== undefined && value !== valueBefore) alter(`alter column ${column} drop default`)
    if (type !== typeBefore) {
      alter(`alter column ${column} type ${type} using ${castTo(column, from, to)}`)
      plan.rewrites ||= !widens(from, to)
    }
    if (value !== undefined && value !== valueBefore) alter(`alter column ${column} set default ${value}`)
    if (from.nullable !== to.nullable)
      alter(`alter column ${column} ${to.nullable ? 'drop' : 'set'} not null`)
  }
}

/**
 * Pairs each column with its previous definition: `undefined` if it is new, or if it is dropped and added again because
 * its computation changed. `hasStableNames` states whether every name still refers to the same column: otherwise an
 * unchanged expression refers to a different one.
 */
export function pairColumns(before: TableState, { after, renamed }: PatchedTable) {
  const was = new Map(
    before.columns.map((column) => [column.name, onItself(column, before.slug, after.slug)]),
  )
  const left = new Set(renamed.values())
  const origins = after.columns.map((to) => {
    const from = renamed.get(to.name) ?? (left.has(to.name) ? undefined : to.name)
    return [from === undefined ? undefined : was.get(from), to] as const
  })
  const hasStableNames = origins.every(([from, { name }]) => from?.name === name || !was.has(name))
  const pairs = origins.map(([from, to]): [Column | undefined, Column] => [
    from && isOtherwiseComputed(from, to, hasStableNames) ? undefined : from,
    to,
  ])
  return { pairs, namesHold: hasStableNames }
}

/**
 * The parts of a definition that are kept: kept columns, parts that use only those, and
 * checks if names still refer to the same columns.
 */
function stayingOf(before: TableState, kept: ReadonlySet<string>, hasStableNames: boolean): TableState {
  const stays = (name: string) => Object.hasOwn(baseColumns, name) || kept.has(name)
  return {
    ...before,
    columns: before.columns.filter(({ name }) => kept.has(name)),
    indexes: before.indexes.filter(({ columns }) => columns.every(({ name }) => stays(name))),
    uniques: before.uniques.filter(({ columns }) => columns.every(stays)),
    checks: hasStableNames ? before.checks : [],
  }
}

/** Sort key: computed columns are added after the columns they use, and dropped before them. */
const isComputed = ({ type }: Column): number => Number(type === 'computed')

/** All statements in order. */
export const listStatements = ({ statements, parts }: ChangePlan): string[] => [
  ...statements,
  ...parts.statements,
]

/** Whether a column became computed, is no longer computed, or has a different expression. */
const isOtherwiseComputed = (from: Column, to: Column, hasStableNames: boolean): boolean =>
  from.type === 'computed' && to.type === 'computed'
    ? !hasStableNames || from.expression !== to.expression || from.resultType !== to.resultType
    : isComputed(from) !== isComputed(to)

/** Converts the value of a column to another type, via its text form, which every type can parse. */
export function castTo(column: string, from: Column, to: Column): string {
  const type = toSqlType(to)
  const times = ['timestamp', 'local_timestamp', 'date']
  const direct = times.includes(from.type) && times.includes(to.type)
  return direct ? `${column}::${type}` : `${column}::text::${type}`
}

/** Type changes for which Postgres rewrites no row. */
const widens = (from: Column, to: Column): boolean => isText(from) && isText(to)

/** Pairs of names that differ for the same part. */
const zip = (from: ReadonlyMap<string, string>, to: ReadonlyMap<string, string>): [string, string][] => {
  const names = [...to.keys()]
  return [...from.keys()].flatMap((name, at) => (names[at] === name ? [] : [[name, names[at] ?? name]]))
}

/** Orders renames so that each target name is free; cycles use a temporary name that no definition can contain. */
function inTurn(renames: readonly [from: string, to: string][]): [from: string, to: string][] {
  const had = new Set(renames.map(([from]) => from))
  const waiting = renames.filter(([, to]) => had.has(to))
  return [
    ...waiting.map(([from], at): [string, string] => [from, `~${at}`]),
    ...renames.filter(([, to]) => !had.has(to)),
    ...waiting.map(([, to], at): [string, string] => [`~${at}`, to]),
  ]
}

/** The previous definition under the new names of table and columns. */
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

/** Parts of `all` that are absent from `others`, or different there. */
function missing(all: TableParts, others: TableParts): TableParts {
  const of = (kind: keyof TableParts) =>
    new Map([...all[kind]].filter(([name, definition]) => others[kind].get(name) !== definition))
  return { constraints: of('constraints'), indexes: of('indexes') }
}
