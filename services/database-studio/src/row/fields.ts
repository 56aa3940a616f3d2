import type { Column, TableState } from '@opsplane/contracts'
import { quoteIdentifier } from '@opsplane/postgres'

/** What a field's values are in Postgres and in JSON. */
export type ValueKind =
  | 'text'
  | 'integer'
  | 'bigint'
  | 'decimal'
  | 'float'
  | 'boolean'
  | 'date'
  | 'time'
  | 'timestamp'
  | 'local_timestamp'
  | 'interval'
  | 'json'
  | 'uuid'
  | 'enum'
  | 'reference'
  | 'array'
  | 'other'

/** One field of a record: a column of the table, or one that every record has. */
export interface Field {
  /** As the API names it. */
  name: string
  /** As Postgres names it. */
  column: string
  kind: ValueKind
  nullable: boolean
  /** Absent for the fields every record has. */
  definition?: Column
}

const own: readonly Field[] = [
  { name: 'id', column: 'id', kind: 'text', nullable: false },
  { name: 'version', column: 'version', kind: 'integer', nullable: false },
  { name: 'createdAt', column: 'created_at', kind: 'timestamp', nullable: false },
  { name: 'updatedAt', column: 'updated_at', kind: 'timestamp', nullable: false },
]

/** Of a table, what its records are made of. */
export type Columns = Pick<TableState, 'columns'>

const known = new WeakMap<Columns, ReadonlyMap<string, Field>>()

/** The fields of a table's records by their names in the API, in the order they are answered in. */
export function buildFields(table: Columns): ReadonlyMap<string, Field> {
  const cached = known.get(table)
  if (cached) return cached
  const columns = table.columns.map((definition) => ({
    name: definition.name,
    column: definition.name,
    kind: toValueKind(definition),
    nullable: definition.nullable,
    definition,
  }))
  const fields = new Map([...own, ...columns].map((field) => [field.name, field]))
  known.set(table, fields)
  return fields
}

export const isSystemField = ({ definition }: Field): boolean => definition === undefined

/** Whether a request may give values of a column: the others are computed, or of a type that only SQL writes. */
export const isWritable = ({ type }: Column): boolean => type !== 'computed' && type !== 'other'

/** The kind of a column's values. */
export function toValueKind(column: Column): ValueKind {
  if (column.type === 'computed') return column.resultType
  return column.type === 'reference' && column.key ? column.key.type : column.type
}

/** The column of the other table that a reference refers to. */
export const findReferenceKey = (column: Column | undefined): string =>
  column?.type === 'reference' ? (column.key?.column ?? 'id') : 'id'

/** How values of a kind are read. */
interface Form {
  /** Their type in Postgres where no column says it. */
  sql: string
  /** A parameter has the column's own type, as a migration may have made the column of another one with such values. */
  asColumn?: true
  /** They are neither sorted nor held against each other by `gt` and its like. */
  unordered?: true
  /** SQL for what the API shows of a value. */
  shown(value: string, field: Field): string
  /** SQL for the same as JSON, where that is not a text that needs no escapes. */
  json?(shown: string): string
}

const plain = (value: string) => value
const text = (value: string) => `${value}::text`
const escaped = (value: string) => `to_json(${value})::text`
const instant = (value: string) => `studio.instant(${value})`

const forms: Record<ValueKind, Form> = {
  text: { sql: 'text', shown: plain, json: escaped },
  integer: { sql: 'int4', shown: plain, json: text },
  bigint: { sql: 'int8', shown: text },
  decimal: { sql: 'numeric', shown: text },
  // As JSON, which has texts for what is no number.
  float: { sql: 'float8', asColumn: true, shown: (value) => `to_json(${value})`, json: text },
  boolean: { sql: 'bool', shown: plain, json: text },
  date: { sql: 'date', shown: text },
  time: { sql: 'time', shown: text },
  timestamp: { sql: 'timestamptz', shown: instant },
  local_timestamp: { sql: 'timestamp', shown: (value) => `(to_json(${value}) #>> '{}')` },
  interval: { sql: 'interval', shown: text },
  json: { sql: 'jsonb', unordered: true, shown: plain, json: text },
  uuid: { sql: 'uuid', shown: plain },
  enum: { sql: 'text', asColumn: true, shown: plain, json: escaped },
  reference: { sql: 'text', shown: plain, json: escaped },
  array: { sql: 'text[]', asColumn: true, unordered: true, shown: shownArray, json: text },
  other: { sql: 'text', asColumn: true, unordered: true, shown: shownOther, json: text },
}

/** Elements as fields of their kind are shown. The capture of changes writes them in the same way. */
function shownArray(value: string, { definition }: Field): string {
  const items = definition?.type === 'array' ? definition.items : 'text'
  if (items === 'bigint' || items === 'decimal') return `to_json(${value}::text[])`
  if (items === 'timestamp')
    return `case when ${value} is not null then to_json(array(select ${instant('item')} from unnest(${value}) item)) end`
  return `to_json(${value})`
}

function shownOther(value: string, { definition }: Field): string {
  const isBytes = definition?.type === 'other' && definition.sqlType === 'bytea'
  return `to_json(${isBytes ? `encode(${value}, 'base64')` : value})`
}

export type TypedField = Pick<Field, 'kind' | 'definition'>

/** The type of a field's values where no column says it. */
export const sqlType = ({ kind, definition }: TypedField): string =>
  definition?.type === 'array' ? `${forms[definition.items].sql}[]` : forms[kind].sql

/** The type a parameter is cast to that is compared with a field; none where it has that of the column. */
export const comparedType = ({ kind }: TypedField): string | undefined =>
  forms[kind].asColumn ? undefined : forms[kind].sql

export const isOrdered = ({ kind }: TypedField): boolean => !forms[kind].unordered

/** The expression that reads a field of the row called `row` as the API shows it. */
export const shownExpression = (field: Field, row: string): string =>
  forms[field.kind].shown(`${row}.${quoteIdentifier(field.column)}`, field)

/** The same as JSON, as a text: faster by half than rows as JSON, which look up the type of each value. */
export function jsonText(field: Field, row: string): string {
  const shown = shownExpression(field, row)
  const json = forms[field.kind].json?.(shown) ?? `'"' || ${shown}::text || '"'`
  return isSystemField(field) ? json : `coalesce(${json}, 'null')`
}
