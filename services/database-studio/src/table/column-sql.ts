import type { Column, ResultType } from '@opsplane/contracts'
import { parameterText, quoteIdentifier, quoteLiteral } from '@opsplane/postgres'
import { buildConstraintName } from '../row/constraint-name.js'

/** A table as named in statements. */
export interface TableName {
  schema: string
  slug: string
}

export const relation = ({ schema, slug }: TableName): string =>
  `${quoteIdentifier(schema)}.${quoteIdentifier(slug)}`

const resultTypes: Record<ResultType, string> = {
  ...{ text: 'text', integer: 'integer', bigint: 'bigint', decimal: 'numeric', float: 'double precision' },
  ...{ boolean: 'boolean', date: 'date', time: 'time', timestamp: 'timestamptz(3)' },
  ...{ local_timestamp: 'timestamp(3)', interval: 'interval', json: 'jsonb', uuid: 'uuid' },
}

/** The type of a column in Postgres. */
export function toSqlType(column: Column): string {
  switch (column.type) {
    case 'text':
      return column.maxLength === null ? 'text' : `varchar(${column.maxLength})`
    case 'decimal':
      return column.precision === null ? 'numeric' : `numeric(${column.precision}, ${column.scale ?? 0})`
    case 'enum':
      return 'text'
    case 'reference':
      return column.key ? resultTypes[column.key.type] : 'text'
    case 'float':
      return column.precision === undefined ? resultTypes.float : 'real'
    case 'time':
    case 'timestamp':
    case 'local_timestamp':
    case 'interval':
      return withPrecision(resultTypes[column.type], column)
    case 'array':
      return `${withPrecision(resultTypes[column.items], column)}[]`
    case 'other':
      return column.sqlType
    case 'computed':
      return resultTypes[column.resultType]
    default:
      return resultTypes[column.type]
  }
}

interface Precise {
  precision?: number | undefined
  scale?: number | undefined
}

/** Adds the precision to a type: `timestamptz(3)` becomes `timestamptz(0)`. */
function withPrecision(type: string, { precision, scale }: Precise): string {
  if (precision === undefined) return type
  if (type === resultTypes.float) return 'real'
  return `${type.replace(/\(.*/, '')}(${[precision, scale].filter((part) => part !== undefined).join(', ')})`
}

/** Whether values are text in Postgres, of any length. */
export const isText = (column: Column): boolean =>
  ['text', 'enum', 'reference'].includes(column.type) && /^(text|varchar)/.test(toSqlType(column))

/** The default of a column as SQL; `undefined` if there is none. */
export function defaultSql(column: Column): string | undefined {
  const { default: given } = column
  if (given === null || column.type === 'computed') return undefined
  if (typeof given === 'object' && 'expression' in given) return `(${given.expression})`
  const json = typeof given === 'object' && 'json' in given ? given.json : given
  const text = parameterText(json, column.type === 'json' ? 'json' : undefined) ?? 'null'
  return `${quoteLiteral(text)}::${toSqlType(column)}`
}

/** A column as written in CREATE TABLE and ADD COLUMN, without named constraints. */
export function columnSql(column: Column): string {
  const parts = [quoteIdentifier(column.name), toSqlType(column)]
  if (column.type === 'computed') parts.push(`generated always as (${column.expression}) stored`)
  const value = defaultSql(column)
  if (value !== undefined) parts.push(`default ${value}`)
  if (!column.nullable) parts.push('not null')
  return parts.join(' ')
}

const referenceActions = { restrict: 'restrict', set_null: 'set null', cascade: 'cascade' }

/** The constraints of one column, by name. */
export function columnConstraints({ schema, slug }: TableName, column: Column): Map<string, string> {
  const name = quoteIdentifier(column.name)
  const found = new Map<string, string>()
  if (column.unique) found.set(buildConstraintName(slug, column.name, 'key'), `unique (${name})`)
  if (column.type === 'enum')
    found.set(
      buildConstraintName(slug, column.name, 'enum'),
      `check (${name} in (${column.values.map(quoteLiteral).join(', ')}))`,
    )
  if (column.type === 'reference')
    found.set(
      buildConstraintName(slug, column.name, 'fkey'),
      `foreign key (${name}) references ${relation({ schema, slug: column.table })} (${column.key ? quoteIdentifier(column.key.column) : 'id'}) on delete ${referenceActions[column.onDelete]}`,
    )
  return found
}
