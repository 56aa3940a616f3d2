import { stringifyExact, type TableState } from '@opsplane/contracts'
import { quoteIdentifier } from '@opsplane/postgres'
import { conditionsSql } from './conditions.js'
import type { Condition } from './filter.js'
import type { Values } from './input.js'
import { Parameters, type Statement } from './parameters.js'
import { selectAllFields, selectList } from './selection.js'

/** The table to write to, with the caller's write rule. */
export interface WriteTarget {
  schema: string
  table: TableState
  /** Must hold before and after a change; empty if the caller has no rule. */
  rule: readonly Condition[]
  /** The function call that sets the actor, if the statement is the whole transaction; its arguments come first. */
  proof?: string | undefined
}

/** Number of arguments of a proof. */
const proofArguments = 3

/** Columns added to a record's own fields, whose names never begin with a point. */
export const marks = { allowed: '.allowed', created: '.created', given: '.given' } as const

const row = 'r'

export interface Insert {
  columns: readonly string[]
  rows: readonly Values[]
  on?: readonly string[]
  answer?: 'records' | 'ids'
}

/**
 * One insert for all rows, which set the same columns; other columns get their defaults. With `on`, rows that already
 * exist by those columns are updated instead. Returns the records, or only their ids and versions, in no particular
 * order.
 */
export function insertStatement(
  target: WriteTarget,
  { columns, rows, on, answer = 'records' }: Insert,
): Statement {
  const parameters = parametersOf(target)
  const names = ['id', ...columns]
  const source = recordset(target, rows, parameters)
  const conflict = on ? onConflict(target, { on, columns }, parameters) : ''
  const returningClause =
    answer === 'records'
      ? returning(target, parameters)
      : `returning ${row}.id, ${row}.version${allowed(target, parameters)}`
  const text = `insert into ${into(target)} as ${row} (${names.map(quoteIdentifier).join(', ')}) select ${names.map((name) => `given.${quoteIdentifier(name)}`).join(', ')} from ${source}${conflict} ${returningClause}`
  return {
    text: on ? `${text}, (${row}.xmax = 0) as ${quoteIdentifier(marks.created)}` : text,
    parameters: parameters.values,
  }
}

function onConflict(
  { rule }: WriteTarget,
  { on, columns }: { on: readonly string[]; columns: readonly string[] },
  parameters: Parameters,
): string {
  const changed = columns.filter((column) => !on.includes(column))
  const set = (changed.length > 0 ? changed : on).map(
    (column) => `${quoteIdentifier(column)} = excluded.${quoteIdentifier(column)}`,
  )
  return ` on conflict (${on.map(quoteIdentifier).join(', ')}) do update set ${set.join(', ')} where ${conditionsSql(rule, row, parameters)}`
}

/**
 * The records that already exist with the same values of `on` and satisfy the rule, in their API representation. Each
 * has the id of the corresponding given row as a mark.
 */
export function existingStatement(
  target: WriteTarget,
  { rows, on }: { rows: readonly Values[]; on: readonly string[] },
): Statement {
  const parameters = parametersOf(target)
  const keys = rows.map((row) => Object.fromEntries(['id', ...on].map((name) => [name, row[name]])))
  const source = recordset(target, keys, parameters)
  const same = on
    .map((name) => `${row}.${quoteIdentifier(name)} = given.${quoteIdentifier(name)}`)
    .join(' and ')
  const list = selectList(selectAllFields(target.table), row, target.schema, parameters)
  const seen = conditionsSql(target.rule, row, parameters)
  return {
    text: `select given.id as ${quoteIdentifier(marks.given)}, ${list} from ${source} join ${into(target)} ${row} on ${same} where ${seen}`,
    parameters: parameters.values,
  }
}

/** Updates each row by its id, if its version matches the given one; all rows set the same columns. */
export function updateStatement(
  target: WriteTarget,
  { columns, rows }: { columns: readonly string[]; rows: readonly Values[] },
): Statement {
  const parameters = parametersOf(target)
  const source = recordset(target, rows, parameters)
  const where = `${row}.id = given.id and (given.version is null or ${row}.version = given.version)`
  return {
    text: `update ${into(target)} as ${row} set ${assigned(columns)} from ${source} where ${where} and ${conditionsSql(target.rule, row, parameters)} ${returning(target, parameters)}`,
    parameters: parameters.values,
  }
}

/** Updates all records that match the conditions. */
export function updateWhereStatement(
  target: WriteTarget,
  { set, conditions }: { set: Values; conditions: readonly Condition[] },
): Statement {
  const parameters = parametersOf(target)
  const columns = Object.keys(set)
  const source = recordset(target, [set], parameters)
  return {
    text: `update ${into(target)} as ${row} set ${assigned(columns)} from ${source} where ${conditionsSql([...conditions, ...target.rule], row, parameters)} returning ${row}.id${allowed(target, parameters)}`,
    parameters: parameters.values,
  }
}

/** Deletes each row by its id, if its version matches the given one. Returns their ids. */
export function deleteStatement(target: WriteTarget, rows: readonly Values[]): Statement {
  const parameters = parametersOf(target)
  const source = recordset(target, rows, parameters)
  const where = `${row}.id = given.id and (given.version is null or ${row}.version = given.version)`
  return {
    text: `delete from ${into(target)} as ${row} using ${source} where ${where} and ${conditionsSql(target.rule, row, parameters)} returning ${row}.id`,
    parameters: parameters.values,
  }
}

/** Deletes all records that match the conditions. Returns their ids. */
export function deleteWhereStatement(target: WriteTarget, conditions: readonly Condition[]): Statement {
  const parameters = parametersOf(target)
  return {
    text: `delete from ${into(target)} as ${row} where ${conditionsSql([...conditions, ...target.rule], row, parameters)} returning ${row}.id`,
    parameters: parameters.values,
  }
}

const into = ({ schema, table }: WriteTarget) => `${quoteIdentifier(schema)}.${quoteIdentifier(table.slug)}`

const assigned = (columns: readonly string[]) =>
  columns.map((column) => `${quoteIdentifier(column)} = given.${quoteIdentifier(column)}`).join(', ')

/** The rows as one parameter, called `given`, with columns typed as in the table. */
function recordset(target: WriteTarget, rows: readonly Values[], parameters: Parameters): string {
  return `${proofSource(target.proof)}json_populate_recordset(null::${into(target)}, ${parameters.bind(stringifyExact(rows), 'json')}) as given`
}

const returning = (target: WriteTarget, parameters: Parameters) =>
  `returning ${selectList(selectAllFields(target.table), row, target.schema, parameters)}${allowed(target, parameters)}`

const allowed = ({ rule }: WriteTarget, parameters: Parameters) =>
  rule.length === 0
    ? ''
    : `, (${conditionsSql(rule, row, parameters)}) is true as ${quoteIdentifier(marks.allowed)}`

const parametersOf = ({ proof }: WriteTarget) => new Parameters(proof ? proofArguments : 0)

const proofSource = (proof: string | undefined) => (proof ? `${proof} as proof, ` : '')
