import { queryOptions } from '@tanstack/react-query'
import type { Place } from '../place/place.js'
import {
  apiPath,
  callOrigin,
  createApi,
  type ExecutionRetry,
  type FailureGroup,
  type ReplayJob,
  type RunRetry,
} from './api.js'
import { pageSize } from './queries.js'

export type FailingKind = 'deliveries' | 'runs' | 'executions'

interface Groups {
  data: FailureGroup[]
  pagination: { hasMore: boolean }
}

const executionsPath = '/api/service-sdk/executions'

export const failurePaths: Record<FailingKind, string> = {
  deliveries: `${apiPath}/deliveries/failures`,
  runs: `${apiPath}/runs/failures`,
  executions: `${executionsPath}/failures`,
}

/** The current failures, grouped by cause and target. */
export const failuresQuery = (place: Place, kind: FailingKind) =>
  queryOptions({
    queryKey: [place.workspace, place.environment, 'failures', kind],
    queryFn: async ({ signal }) => {
      const path = `${failurePaths[kind]}?limit=${pageSize}`
      const { data, pagination } = await callOrigin<Groups>(place, path, { signal })
      return { groups: data, hasMore: pagination.hasMore }
    },
  })

/** Job that retries a group of failures. */
export interface RetryJob {
  id: string
  status: 'running' | 'completed' | 'canceled'
  total: number
  done: number
  /** Number of failures that could not be retried. */
  refused: number
}

/** Retries the failures of one kind, group by group. */
export interface Retrying {
  /** Excludes failures that occurred after the group was listed. */
  start(group: FailureGroup): Promise<RetryJob>
  read(group: FailureGroup, jobId: string, signal: AbortSignal): Promise<RetryJob>
  cancel(group: FailureGroup, jobId: string): Promise<unknown>
}

const countsOfReplay = ({ replayed }: ReplayJob) => ({ done: replayed, refused: 0 })

export const retryingDeliveries = (place: Place): Retrying => ({
  async start({ id: groupId, to }) {
    const params = { path: { groupId } }
    const { data } = await createApi(place).post('/deliveries/failures/{groupId}/retry', {
      params,
      body: { to },
    })
    return jobOf(data.job, countsOfReplay)
  },
  async read({ target: { id } }, replayId, signal) {
    const params = { path: { id, replayId } }
    const { data } = await createApi(place).get('/webhooks/{id}/replays/{replayId}', { params, signal })
    return jobOf(data, countsOfReplay)
  },
  cancel: ({ target: { id } }, replayId) =>
    createApi(place).post('/webhooks/{id}/replays/{replayId}/cancel', { params: { path: { id, replayId } } }),
})

const countsOfRetry = ({ retried, refused }: RunRetry | ExecutionRetry) => ({ done: retried, refused })

export const retryingRuns = (place: Place): Retrying => ({
  async start({ id: groupId, to }) {
    const params = { path: { groupId } }
    const { data } = await createApi(place).post('/runs/failures/{groupId}/retry', { params, body: { to } })
    return jobOf(data.job, countsOfRetry)
  },
  async read(_, id, signal) {
    const { data } = await createApi(place).get('/runs/retries/{id}', { params: { path: { id } }, signal })
    return jobOf(data, countsOfRetry)
  },
  cancel: (_, id) => createApi(place).post('/runs/retries/{id}/cancel', { params: { path: { id } } }),
})

/** Uses paths relative to the origin, like all calls about executions. */
export const retryingExecutions = (place: Place, call: typeof callOrigin = callOrigin): Retrying => ({
  async start({ id, to }) {
    const path = `${executionsPath}/failures/${encodeURIComponent(id)}/retry`
    const { data } = await call<{ data: { job: ExecutionRetry | null } }>(place, path, {
      method: 'POST',
      body: { to },
    })
    return jobOf(data.job, countsOfRetry)
  },
  async read(_, id, signal) {
    const { data } = await call<{ data: ExecutionRetry }>(place, `${executionsPath}/retries/${id}`, {
      signal,
    })
    return jobOf(data, countsOfRetry)
  },
  cancel: (_, id) => call(place, `${executionsPath}/retries/${id}/cancel`, { method: 'POST' }),
})

type Job = Pick<RetryJob, 'id' | 'status' | 'total'>

/** The job is `null` only for a dry run. */
function jobOf<Found extends Job>(
  job: Found | null,
  countsOf: (job: Found) => Pick<RetryJob, 'done' | 'refused'>,
): RetryJob {
  if (job === null) throw new Error('The retry was answered without a job.')
  const { id, status, total } = job
  return { id, status, total, ...countsOf(job) }
}
