import type { Column, TableState } from '@opsplane/contracts'
import { quoteIdentifier } from '@opsplane/postgres'

/** Type of a field's values in Postgres and in JSON. */
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

/** A field of a record: a column of the table or one of the columns that every record has. */
export interface Field {
  /** Name in the API. */
  name: string
  /** Name in Postgres. */
  column: string
  kind: ValueKind
  nullable: boolean
  /** `undefined` for the fields that every record has. */
  definition?: Column
}

const own: readonly Field[] = [
  { name: 'id', column: 'id', kind: 'text', nullable: false },
  { name: 'version', column: 'version', kind: 'integer', nullable: false },
  { name: 'createdAt', column: 'created_at', kind: 'timestamp', nullable: false },
  { name: 'updatedAt', column: 'updated_at', kind: 'timestamp', nullable: false },
]

/** The part of a table that determines its fields. */
export type Columns = Pick<TableState, 'columns'>

const known = new WeakMap<Columns, ReadonlyMap<string, Field>>()

/** The fields of a table's records by API name, in the order of the response. */
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

/** Whether requests may set a column. Computed columns are excluded, and columns whose type only SQL can write. */
export const isWritable = ({ type }: Column): boolean => type !== 'computed' && type !== 'other'

/** The kind of a column's values. */
export function toValueKind(column: Column): ValueKind {
  if (column.type === 'computed') return column.resultType
  return column.type === 'reference' && column.key ? column.key.type : column.type
}

/** The column of the other table that a reference points to. */
export const findReferenceKey = (column: Column | undefined): string =>
  column?.type === 'reference' ? (column.key?.column ?? 'id') : 'id'

/** How values of a kind are read and shown. */
interface Form {
  /** Their Postgres type if no column determines it. */
  sql: string
  /**
   * Parameters are cast to the column's own type, since a migration may have created the column with a different type
   * that has the same values.
   */
  asColumn?: true
  /** Values are not sortable and not comparable by `gt` and similar operators. */
  unordered?: true
  /** SQL for the API representation of a value. */
  shown(value: string, field: Field): string
  /** SQL for the value as JSON, unless that is a text without characters to escape. */
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
  // As JSON, which represents NaN and infinities as texts.
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

/** Shows elements in the same way as fields of their kind. The change capture writes them in the same way. */
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

/** The Postgres type of a field's values if no column determines it. */
export const sqlType = ({ kind, definition }: TypedField): string =>
  definition?.type === 'array' ? `${forms[definition.items].sql}[]` : forms[kind].sql

/** The type to which parameters are cast when compared with a field; `undefined` if they have the column's type. */
export const comparedType = ({ kind }: TypedField): string | undefined =>
  forms[kind].asColumn ? undefined : forms[kind].sql

export const isOrdered = ({ kind }: TypedField): boolean => !forms[kind].unordered

/** SQL expression for the API representation of a field of the row called `row`. */
export const shownExpression = (field: Field, row: string): string =>
  forms[field.kind].shown(`${row}.${quoteIdentifier(field.column)}`, field)

/**
 * SQL expression for a field as JSON text. Twice as fast as rows converted to JSON by
 * Postgres, which looks up each value's type.
 */
export function jsonText(field: Field, row: string): string {
  const shown = shownExpression(field, row)
  const json = forms[field.kind].json?.(shown) ?? `'"' || ${shown}::text || '"'`
  return isSystemField(field) ? json : `coalesce(${json}, 'null')`
}
