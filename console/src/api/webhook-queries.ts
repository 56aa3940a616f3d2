import { queryOptions } from '@tanstack/react-query'
import type { Place } from '../place/place.js'
import { createApi, type ReplayRequest } from './api.js'

/** Interval between polls of a running job, in milliseconds; no event signals its progress. */
const progressEveryMs = 1_000

export const replaysQuery = (place: Place, id: string) =>
  queryOptions({
    queryKey: [place.workspace, place.environment, 'replays', id],
    queryFn: async ({ signal }) =>
      (
        await createApi(place).get('/webhooks/{id}/replays', {
          params: { path: { id }, query: { limit: 20 } },
          signal,
        })
      ).data,
    refetchInterval: ({ state: { data } }) =>
      data?.some(({ status }) => status === 'running') ? progressEveryMs : false,
  })

interface ReplayRange {
  status: readonly ('failed' | 'succeeded')[]
  fromMs: number
  toMs: number
}
export const replayRequest = ({ status, fromMs, toMs }: ReplayRange): ReplayRequest => ({
  status: [...status],
  from: new Date(fromMs).toISOString(),
  to: new Date(toMs).toISOString(),
})

/** The number of deliveries that a replay would create. */
export const replayCountQuery = (place: Place, id: string, range: ReplayRequest) =>
  queryOptions({
    queryKey: [place.workspace, place.environment, 'replays', id, 'count', range],
    queryFn: async ({ signal }) =>
      (
        await createApi(place).post('/webhooks/{id}/deliveries/replay', {
          params: { path: { id } },
          body: { ...range, dryRun: true },
          signal,
        })
      ).data,
  })
