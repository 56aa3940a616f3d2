import type { AnalyticsQuery, FactRowsQuery, ResultColumn } from '@opsplane/contracts'
import type { Dataset, Measure } from '../dataset/dataset.js'
import { datasets, findDataset } from '../dataset/datasets.js'
import { conditionsSql, listColumns } from './condition.js'
import { describeChoices, InvalidQuery } from './invalid-query.js'
import { Parameters } from './parameters.js'

/** A dataset query in which all names are known. */
export interface CheckedQuery {
  dataset: Dataset
  measures: Readonly<Record<string, Measure>>
  timeField: string
  columns: ResultColumn[]
}

export function getDataset(name: string): Dataset {
  const dataset = findDataset(name)
  if (!dataset) throw new InvalidQuery('/dataset', describeChoices(datasets.map(({ name }) => name)))
  return dataset
}

/** Throws `InvalidQuery` for a name or value the dataset does not have. */
export function checkDatasetQuery(query: AnalyticsQuery, dataset: Dataset): CheckedQuery {
  const measures = query.measures.map((name, index) => {
    const measure = Object.hasOwn(dataset.measures, name) ? dataset.measures[name] : undefined
    if (!measure) throw new InvalidQuery(`/measures/${index}`, describeChoices(Object.keys(dataset.measures)))
    return [name, measure] as const
  })
  const timeField = query.timeField ?? 'createdAt'
  if (!dataset.timeFields.includes(timeField))
    throw new InvalidQuery('/timeField', describeChoices(dataset.timeFields))
  const columns = [
    ...(query.grain ? [timeColumn] : []),
    ...query.dimensions.map((name, index) => dimensionColumn(dataset, name, index)),
    ...measures.map(([name, measure]) => measureColumn(name, measure)),
  ]
  conditionsSql(dataset, query.filters, new Parameters())
  checkSort(query, columns)
  return { dataset, measures: Object.fromEntries(measures), timeField, columns }
}

export const timeColumn: ResultColumn = {
  ...{ name: 'time', label: 'Time', type: 'timestamp', format: 'plain', role: 'time' },
}

function dimensionColumn(dataset: Dataset, name: string, index: number): ResultColumn {
  const column = Object.hasOwn(dataset.columns, name) ? dataset.columns[name] : undefined
  if (!column?.dimension) {
    const dimensions = Object.entries(dataset.columns).filter(([, { dimension }]) => dimension)
    throw new InvalidQuery(`/dimensions/${index}`, describeChoices(dimensions.map(([each]) => each)))
  }
  return { name, label: column.label, type: column.type, format: 'plain', role: 'dimension' }
}

const integerKinds = ['count', 'distinct', 'sum']

const measureColumn = (name: string, { label, kind, format = 'plain' }: Measure): ResultColumn => ({
  ...{ name, label, format, role: 'measure' },
  type: integerKinds.includes(kind) ? 'integer' : 'number',
})

export function checkSort({ sort }: Pick<AnalyticsQuery, 'sort'>, columns: readonly ResultColumn[]): void {
  const names = columns.map(({ name }) => name)
  if (sort !== undefined && !names.includes(sort.replace(/^-/, '')))
    throw new InvalidQuery('/sort', `${describeChoices(names)}, with - in front for descending`)
}

/** Resolves the columns of a query for individual facts. Throws `InvalidQuery`. */
export function checkFactRows({ dataset: name, columns, filters }: FactRowsQuery) {
  const dataset = getDataset(name)
  const known = listColumns(dataset)
  const names = columns ?? Object.keys(known)
  const listed = names.map((each, index): ResultColumn => {
    const column = Object.hasOwn(known, each) ? known[each] : undefined
    if (!column) throw new InvalidQuery(`/columns/${index}`, describeChoices(Object.keys(known)))
    const { label, type, format = 'plain' } = column
    return { name: each, label, type, format, role: 'dimension' }
  })
  conditionsSql(dataset, filters, new Parameters())
  return { dataset, columns: listed }
}
