import type { Column, ResultColumnType, Table } from '@opsplane/contracts'

export type ColumnTypes = ReadonlyMap<string, ResultColumnType>

type RecordType = Exclude<Column['type'], 'computed'>

const ofRecords: Record<RecordType, ResultColumnType> = {
  ...({ text: 'text', uuid: 'text', enum: 'text', reference: 'text', boolean: 'boolean' } as const),
  ...({ integer: 'integer', bigint: 'bigint', decimal: 'decimal' } as const),
  ...({ date: 'date', timestamp: 'timestamp', json: 'json' } as const),
  ...({ float: 'number', array: 'json', other: 'json' } as const),
  ...({ time: 'time', local_timestamp: 'local_timestamp', interval: 'interval' } as const),
}

/** Columns of a table's records and their types, in table order. */
export const recordColumns = ({ columns }: Pick<Table, 'columns'>): ColumnTypes =>
  new Map<string, ResultColumnType>([
    ...([['id', 'text'] as const, ['version', 'integer'] as const] as const),
    ...([['createdAt', 'timestamp'] as const, ['updatedAt', 'timestamp'] as const] as const),
    ...columns.map(
      (column) =>
        [column.name, ofRecords[column.type === 'computed' ? column.resultType : column.type]] as const,
    ),
  ])

const ofPostgres: Readonly<Record<string, ResultColumnType>> = {
  ...({ smallint: 'integer', integer: 'integer', oid: 'integer', bigint: 'bigint' } as const),
  ...({ decimal: 'decimal', numeric: 'decimal', real: 'number', 'double precision': 'number' } as const),
  ...({ boolean: 'boolean', date: 'date', timestamp: 'timestamp', interval: 'interval' } as const),
  ...({ 'timestamp with time zone': 'timestamp', 'timestamp without time zone': 'local_timestamp' } as const),
  ...({ 'time without time zone': 'time', time: 'time', json: 'json', jsonb: 'json' } as const),
}

/** Type of a saved query's column, from the type name used by the database studio; `text` if the name is unknown. */
export const toColumnType = (name: string): ResultColumnType =>
  name.endsWith('[]') ? 'json' : (ofPostgres[name] ?? 'text')
