import {
  defaultRange,
  type ExportSource,
  type QueryRange,
  type ReportState,
  RunReport,
  Table,
} from '@opsplane/contracts'
import type { RequestMeta, ServiceClient } from '@opsplane/http'
import type { StatementRunner } from '@opsplane/postgres'
import { getDataset } from '../query/check-query.js'
import { mapQueryPointer, refuseQuery } from '../query/invalid-query.js'
import { requireRight } from '../query/rights.js'
import { buildTimeline } from '../query/timeline.js'
import type { QueryCaller, QueryRunner } from '../query/types.js'
import { fillQuery } from '../report/report-query.js'
import type { PlannedRows } from './plan.js'

export interface PlanOptions {
  sql: StatementRunner
  runner: QueryRunner
  studio: Pick<ServiceClient, 'get'>
  toCaller(meta: RequestMeta): QueryCaller
  /** Throws `not_found`. */
  report(id: string, meta: RequestMeta): Promise<Pick<ReportState, 'name' | 'query' | 'parameters'>>
}

const prefixPointer = (prefix: string) => (pointer: string) => `${prefix}${pointer}`

/** The rows an export reads, and the name of its source. */
export interface PlannedSource {
  rows: PlannedRows
  name: string
}

/**
 * Resolves a source at this moment: a report to its query, "last month" to two instants. Throws the same errors as
 * reading it if the source does not exist, is invalid or is not accessible to the caller.
 */
export function createPlan({ sql, runner, studio, toCaller, report }: PlanOptions) {
  const fixed = async (range: QueryRange, timeZone: string, now: string) => {
    const { from, to } = await buildTimeline(sql, { range, timeZone, now })
    return { from, to }
  }

  const ofQuery = async (
    query: Extract<PlannedRows, { query: unknown }>['query'],
    meta: RequestMeta,
  ): Promise<PlannedRows> => {
    runner.checkQuery(query)
    const { dataset, timeZone, comparePrevious: _, ...asked } = query
    const range = asked.range ?? (dataset === undefined ? undefined : defaultRange)
    if (dataset !== undefined) requireRight(toCaller(meta), getDataset(dataset).permission)
    const settled = range && { range: await fixed(range, timeZone, meta.now) }
    return {
      query: {
        ...asked,
        ...(dataset !== undefined && { dataset }),
        timeZone,
        comparePrevious: false,
        ...settled,
      },
    }
  }

  return async (source: ExportSource, meta: RequestMeta): Promise<PlannedSource> => {
    if ('records' in source) {
      const issuer = await toCaller(meta).studio()
      const path = `/tables/${encodeURIComponent(source.records.table)}`
      const { name, slug } = await studio
        .get(path, Table, { issuer })
        .catch(refuseQuery({ '': 'body /source/records/table' }))
      return { rows: source, name: name || slug }
    }
    if ('facts' in source) {
      const { range, ...facts } = source.facts
      await mapQueryPointer(prefixPointer('/source/facts'), () => runner.checkQuery(source.facts))
      requireRight(toCaller(meta), getDataset(facts.dataset).permission)
      const settled = range && { range: await fixed(range, facts.timeZone, meta.now) }
      return { rows: { facts: { ...facts, ...settled } }, name: facts.dataset }
    }
    if ('query' in source) {
      const { dataset, table, savedQuery } = source.query
      const rows = await mapQueryPointer(prefixPointer('/source/query'), () => ofQuery(source.query, meta))
      return { rows, name: dataset ?? table ?? savedQuery ?? 'query' }
    }
    const { name, ...saved } = await report(source.report, meta)
    const query = fillQuery(saved, RunReport.parse({ parameters: source.parameters }), '/source')
    return {
      rows: await mapQueryPointer(
        () => '/source/report',
        () => ofQuery(query, meta),
      ),
      name,
    }
  }
}
