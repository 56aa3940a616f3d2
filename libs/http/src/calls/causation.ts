import { ApiError, CauseDepths } from '@opsplane/contracts'
import type { RequestMeta } from '../route/route.js'
import type { ServiceClient } from './service-client.js'

/** Runs of workflows and executions of artifacts that have caused one another, at most. */
export const maxCausationDepth = 10

const isRun = (id: string) => id.startsWith('run_')
const isExecution = (id: string) => id.startsWith('exec_')
export const isCause = (id: string): boolean => isRun(id) || isExecution(id)

/** How many runs and executions have caused what a request asks for. Throws `conflict` beyond the most. */
export function computeRequestDepth({
  causationId = null,
  causationDepth = 0,
}: Pick<RequestMeta, 'causationId' | 'causationDepth'>): number {
  const isCaused = causationId !== null && isCause(causationId)
  const depth = isCaused ? causationDepth + 1 : 0
  if (depth <= maxCausationDepth) return depth
  throw causationTooDeep()
}

/** Runs and executions have caused one another more often than they may. */
export function causationTooDeep(): ApiError {
  const message = `Runs and executions have caused one another ${maxCausationDepth} levels deep; this one causes no other.`
  return new ApiError('conflict', message, {
    details: [{ in: 'header', path: '', code: 'too_deep', message, params: { max: maxCausationDepth } }],
  })
}

/** How many runs and executions had caused each of these; those that are not there any more are absent. */
export type DepthsOf = (ids: readonly string[]) => Promise<ReadonlyMap<string, number>>

/** The same of what another service runs. Throws `service_unavailable` or `upstream_timeout` where it does not answer. */
export const remoteDepths =
  (client: Pick<ServiceClient, 'post'> | undefined, path: string): DepthsOf =>
  async (ids) => {
    if (ids.length === 0) return new Map()
    if (!client) throw new ApiError('service_unavailable', 'The service that has run the cause is not there.')
    const signal = AbortSignal.timeout(depthsTimeoutMs)
    const { depths } = await client.post(path, { ids: [...new Set(ids)] }, CauseDepths, { signal })
    return new Map(depths.map(({ id, depth }) => [id, depth]))
  }

const depthsTimeoutMs = 5_000

/** The run or the execution that an event tells of, or that it was caused by. */
export const findEventCause = ({
  resource,
  causationId,
}: {
  resource: { id: string }
  causationId: string | null
}): string | undefined => [resource.id, causationId ?? ''].find(isCause)

/**
 * How deep what follows from events is, by the id of their cause: 0 without one. Causes that are not there any more count as
 * none.
 */
export function createCauses(of: { runs: DepthsOf; executions: DepthsOf }) {
  return async (
    events: readonly Parameters<typeof findEventCause>[0][],
  ): Promise<(event: Parameters<typeof findEventCause>[0]) => number> => {
    const causes = events.flatMap((event) => findEventCause(event) ?? [])
    const [runs, executions] = await Promise.all([
      of.runs(causes.filter(isRun)),
      of.executions(causes.filter(isExecution)),
    ])
    return (event) => {
      const cause = findEventCause(event) ?? ''
      const depth = runs.get(cause) ?? executions.get(cause)
      return depth === undefined ? 0 : depth + 1
    }
  }
}

/** Finds out how deep what follows from events is. */
export type DepthsAfter = ReturnType<typeof createCauses>
