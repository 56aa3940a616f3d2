import type { AnalyticsQuery, ResultColumn } from '@opsplane/contracts'
import { timeColumn } from './check-query.js'
import type { RowMeasure } from './row-measure.js'

/** The columns of what is asked of a table or a saved query. Of what type its own columns are is known from the rows alone. */
export function studioColumns(
  { grain, dimensions }: Pick<AnalyticsQuery, 'grain' | 'dimensions'>,
  measures: readonly RowMeasure[],
): ResultColumn[] {
  return [
    ...(grain ? [timeColumn] : []),
    ...dimensions.map((name) => plainColumn(name, 'text', 'dimension')),
    ...measures.map(({ name, kind }) =>
      plainColumn(name, ['count', 'distinct'].includes(kind) ? 'integer' : 'number', 'measure'),
    ),
  ]
}

export const plainColumn = (
  name: string,
  type: ResultColumn['type'],
  role: ResultColumn['role'],
): ResultColumn => ({ name, label: name, type, format: 'plain', role })
