import type { AnalyticsQuery } from '@opsplane/contracts'
import { checkSort } from './check-query.js'
import { describeChoices, InvalidQuery, pointerPart } from './invalid-query.js'
import type { ColumnTypes } from './record-columns.js'
import type { RowMeasure } from './row-measure.js'
import { foldKinds } from './row-measure.js'
import { studioColumns } from './studio-columns.js'

/** Parses the measures of a query over rows. Throws `InvalidQuery` for an invalid measure. */
export function rowMeasures({ measures }: Pick<AnalyticsQuery, 'measures'>): RowMeasure[] {
  return measures.map((name, index) => {
    const [kind, ...rest] = name.split(':')
    const column = rest.join(':')
    const known = foldKinds.find((each) => each === kind)
    if (!known || (known === 'count') !== (column === ''))
      throw new InvalidQuery(
        `/measures/${index}`,
        `must be count, or ${foldKinds.slice(1).join(', ')} with : and a column`,
      )
    return column === '' ? { name, kind: known } : { name, kind: known, column }
  })
}

/**
 * Throws `InvalidQuery` if a table or saved query cannot be queried this way, as far as that is known
 * without reading it.
 */
export function checkStudioQuery(query: AnalyticsQuery): void {
  const measures = rowMeasures(query)
  if ((query.grain || query.range || query.comparePrevious) && query.timeField === undefined)
    throw new InvalidQuery('/timeField', 'is needed for a grain, a range or a comparison')
  if (measures.length > 0) checkSort(query, studioColumns(query, measures, new Map()))
}

/** Throws `InvalidQuery` for a column the rows do not have. */
export function checkColumns(query: AnalyticsQuery, types: ColumnTypes): void {
  const check = (pointer: string, name: string | undefined) => {
    if (name !== undefined && !types.has(name))
      throw new InvalidQuery(pointer, `is of ${name}; it ${describeChoices(types.keys())}`)
  }
  for (const [index, name] of query.dimensions.entries()) check(`/dimensions/${index}`, name)
  for (const [index, { column }] of rowMeasures(query).entries()) check(`/measures/${index}`, column)
  check('/timeField', query.timeField)
  if (query.savedQuery === undefined) return
  for (const path of Object.keys(query.filters)) check(`/filters/${pointerPart(path)}`, path.split('.')[0])
}
