import { AnalyticsDataset, type ResultColumnType } from '@opsplane/contracts'
import { defineList, type Route } from '@opsplane/http'
import type { ServiceContext } from '@opsplane/service'
import { z } from 'zod'
import type { Dataset, FactColumn } from '../dataset/dataset.js'
import { datasets } from '../dataset/datasets.js'
import { listColumns } from './condition.js'

/** Routes that list the datasets as declared. */
export function datasetRoutes({ cursors }: Pick<ServiceContext, 'cursors'>): Route[] {
  return [
    defineList({
      operationId: 'listDatasets',
      path: '/analytics/datasets',
      summary: 'List datasets',
      description:
        'Returns each dataset with the dimensions and measures available to reports, dashboards and KPIs.',
      tag: 'Analytics',
      scope: 'analytics:read',
      sorts: [],
      response: AnalyticsDataset,
      handler: async ({ query: { limit, after }, binding }) => {
        const first = after === undefined ? 0 : z.tuple([z.int()]).parse(cursors.decode(after, binding))[0]
        const next = first + limit
        const nextCursor = next < datasets.length ? cursors.encode([next], binding) : null
        return { items: datasets.slice(first, next).map(shown), nextCursor, limit }
      },
    }),
  ]
}

const approximateKinds = ['distinct', 'percentile']

function shown(dataset: Dataset): AnalyticsDataset {
  const { name, label, description, permission, columns, measures, timeFields } = dataset
  const isDimension = ([, { dimension }]: [string, FactColumn]) => dimension === true
  return {
    ...{ name, label, description, permission, timeFields: [...timeFields] },
    dimensions: Object.entries(columns).filter(isDimension).map(listed),
    measures: Object.entries(measures).map(([each, { format = 'plain', kind, ...measure }]) => ({
      name: each,
      label: measure.label,
      description: measure.description,
      ...{ kind, format, approximate: approximateKinds.includes(kind) },
    })),
    columns: Object.entries(listColumns(dataset)).map(listed),
  }
}

const listed = ([name, { label, type }]: [string, FactColumn]): {
  name: string
  label: string
  type: ResultColumnType
} => ({
  ...{ name, label, type },
})
