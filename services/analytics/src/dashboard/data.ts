import { createHash } from 'node:crypto'
import {
  ApiError,
  canonicalJson,
  type Dashboard,
  type DashboardData,
  RunReport,
  type TenantScope,
  type Widget,
} from '@opsplane/contracts'
import { LRUCache } from 'lru-cache'
import type { DataAge } from '../fact/data-age.js'
import type { FactVersions } from '../fact/fact-versions.js'
import type { QueryCaller, QueryRunner } from '../query/types.js'
import { fillQuery } from '../report/report-query.js'
import type { Dashboards } from './dashboards.js'

export interface DashboardDataOptions {
  versions: Pick<FactVersions, 'of'>
  dashboards: Pick<Dashboards, 'reports'>
  runner: QueryRunner
  age: DataAge
}

type WidgetData = Pick<DashboardData, 'widgets'>

/** Maximum number of cached evaluations, shared by requests for the same version. */
const maxCached = 200
const widgetsAtOnce = 4

/**
 * Evaluates dashboards. Callers with the same rights share one evaluation while nothing has changed. Data from the
 * database studio is read separately for each caller.
 */
export function createDashboardData({ versions, dashboards, runner, age }: DashboardDataOptions) {
  const evaluations = new LRUCache<string, Promise<WidgetData>>({ max: maxCached })

  const queryOf = async ({ query, report: id, parameters }: Widget, tenant: TenantScope) => {
    if (query) return query
    return fillQuery(await dashboards.reports.get(id ?? '', tenant), RunReport.parse({ parameters }))
  }
  const widgetData = async (caller: QueryCaller, widget: Widget, signal: AbortSignal) => {
    const { id, title, kind, width } = widget
    try {
      const answer = await runner.runQuery(caller, await queryOf(widget, caller.tenant), signal)
      return { id, title, kind, width, answer, error: null }
    } catch (error) {
      const { code, message, retryable } = error instanceof ApiError ? error : unexpected()
      return { id, title, kind, width, answer: null, error: { code, message, retryable } }
    }
  }
  const evaluate = async (
    caller: QueryCaller,
    { widgets }: Dashboard,
    signal: AbortSignal,
  ): Promise<WidgetData> => {
    const done: WidgetData['widgets'] = []
    for (let first = 0; first < widgets.length; first += widgetsAtOnce)
      done.push(
        ...(await Promise.all(
          widgets.slice(first, first + widgetsAtOnce).map((widget) => widgetData(caller, widget, signal)),
        )),
      )
    return { widgets: done }
  }

  return {
    /** The version that `since` is compared with. It changes whenever the dashboard or a dataset it queries changes. */
    async version(tenant: TenantScope, { id, version, widgets }: Dashboard): Promise<string> {
      const all = await versions.of(tenant)
      const datasets = widgets.map(({ query }) => query?.dataset)
      const isUsed = (dataset: string) => datasets.includes(undefined) || datasets.includes(dataset)
      return hashState({ id, version, facts: Object.entries(all).filter(([dataset]) => isUsed(dataset)) })
    },

    async read(
      caller: QueryCaller,
      dashboard: Dashboard,
      since: string,
      signal: AbortSignal,
    ): Promise<DashboardData> {
      const queriedDatasets = dashboard.widgets.flatMap(({ query }) => query?.dataset ?? [])
      const dataAsOf = await age.asOf(caller.tenant, [...new Set(queriedDatasets)])
      const isShared = dashboard.widgets.every(({ query }) => query?.dataset !== undefined)
      const rights = [...caller.permissions].sort()
      const key = canonicalJson({ tenant: caller.tenant, id: dashboard.id, since, rights })
      const evaluation =
        (isShared ? evaluations.get(key) : undefined) ??
        evaluate(caller, dashboard, isShared ? new AbortController().signal : signal)
      if (isShared) evaluations.set(key, evaluation)
      evaluation.catch(() => evaluations.delete(key))
      return { dashboardId: dashboard.id, ...(await evaluation), since, dataAsOf }
    },
  }
}
export type DashboardDataReader = ReturnType<typeof createDashboardData>

const hashState = (value: object) =>
  createHash('sha256').update(canonicalJson(value)).digest('base64url').slice(0, 22)

const unexpected = () => new ApiError('internal_error', 'Something went wrong with this widget.')
