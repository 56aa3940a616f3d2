import type { AnalyticsQuery, ResultColumn, ResultColumnType } from '@opsplane/contracts'
import { timeColumn } from './check-query.js'
import type { ColumnTypes } from './record-columns.js'
import type { RowMeasure } from './row-measure.js'

/** Columns of an answer about a table or saved query, with the types of its columns. */
export function studioColumns(
  { grain, dimensions }: Pick<AnalyticsQuery, 'grain' | 'dimensions'>,
  measures: readonly RowMeasure[],
  types: ColumnTypes,
): ResultColumn[] {
  return [
    ...(grain ? [timeColumn] : []),
    ...dimensions.map((name) => plainColumn(name, types.get(name) ?? 'text', 'dimension')),
    ...measures.map((measure) => plainColumn(measure.name, measureType(measure, types), 'measure')),
  ]
}

function measureType({ kind, column = '' }: RowMeasure, types: ColumnTypes): ResultColumnType {
  if (kind === 'count' || kind === 'distinct') return 'integer'
  const type = types.get(column)
  if (type === 'decimal' || type === 'bigint') return 'decimal'
  return type === 'integer' && kind !== 'avg' ? 'integer' : 'number'
}

export const plainColumn = (
  name: string,
  type: ResultColumn['type'],
  role: ResultColumn['role'],
): ResultColumn => ({ name, label: name, type, format: 'plain', role })
