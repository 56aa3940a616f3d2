import type { AnalyticsQuery, FactRowsQuery } from '@opsplane/contracts'
import type { Database } from '@opsplane/postgres'
import type { Clock } from '@opsplane/runtime'
import type { Dataset } from '../dataset/dataset.js'
import type { DataAge } from '../fact/data-age.js'
import type { AnswerCache } from './answer-cache.js'
import { checkDatasetQuery, checkFactRows, getDataset } from './check-query.js'
import { listColumns } from './condition.js'
import { answerDataset, readFactVersion } from './dataset-query.js'
import { withLocalDates, zonedFilters } from './local-days.js'
import { requireRight } from './rights.js'
import { factComposites, factRows, toRowPages } from './rows.js'
import type { StudioQueries } from './studio.js'
import { checkStudioQuery } from './studio-query.js'
import { checkRange } from './timeline.js'
import type { QueryCaller, QueryRunner } from './types.js'

export interface QueryRunnerOptions {
  database: Pick<Database, 'sql'>
  age: DataAge
  cache: AnswerCache
  studio: StudioQueries
  clock: Clock
}

const quarterHourMs = 900_000

export function createQueryRunner({ database, age, cache, studio, clock }: QueryRunnerOptions): QueryRunner {
  const runDataset = async (caller: QueryCaller, requestedQuery: AnalyticsQuery, name: string) => {
    const checked = checkDatasetQuery(requestedQuery, getDataset(name))
    const query = { ...requestedQuery, filters: zonedFacts(checked.dataset, requestedQuery) }
    requireRight(caller, checked.dataset.permission)
    const { tenant } = caller
    const now = clock.now()
    // Read before the facts: changes in between only make the answer newer than it states.
    const dataAsOf = await age.asOf(tenant, [name])
    const dataVersion = await readFactVersion(database.sql, tenant, name)
    const quarterHour = Math.floor(Date.parse(now) / quarterHourMs)
    const answer = await cache.find(tenant, query, { dataVersion, quarterHour }, () =>
      answerDataset(database, { tenant, query, checked, now }),
    )
    return { ...answer, dataAsOf }
  }

  const runQuery: QueryRunner['runQuery'] = (caller, query, signal) =>
    query.dataset === undefined ? studio.run(caller, query, signal) : runDataset(caller, query, query.dataset)

  return {
    runQuery,
    async openRows(caller, source, { after, signal }) {
      if (source.kind === 'query') {
        const answer = await runQuery(caller, source.query, signal)
        return toRowPages(withLocalDates(answer, source.query), after)
      }
      const { dataset, columns } = checkFactRows(source.query)
      requireRight(caller, dataset.permission)
      const dataAsOf = await age.asOf(caller.tenant, [dataset.name])
      const filters = zonedFacts(dataset, source.query)
      const query = { ...source.query, filters, tenant: caller.tenant, dataset, columns, now: clock.now() }
      const options = { after, signal }
      return {
        ...{ columns, dataAsOf, pages: factRows(database, query, options) },
        compositePages: factComposites(database, query, options),
      }
    },
    checkQuery(query) {
      checkRange(query)
      if (!isAnalyticsQuery(query)) checkFactRows(query)
      else if (query.dataset === undefined) checkStudioQuery(query)
      else checkDatasetQuery(query, getDataset(query.dataset))
    },
  }
}

const zonedFacts = (dataset: Dataset, { filters, timeZone }: Pick<FactRowsQuery, 'filters' | 'timeZone'>) =>
  zonedFilters(filters, (name) => listColumns(dataset)[name]?.type, timeZone)

const isAnalyticsQuery = (query: AnalyticsQuery | FactRowsQuery): query is AnalyticsQuery =>
  'measures' in query
