import { ApiError, CauseDepths } from '@opsplane/contracts'
import type { RequestMeta } from '../route/route.js'
import type { ServiceClient } from './service-client.js'

/** Maximum length of a chain of workflow runs and artifact executions that cause one another. */
export const maxCausationDepth = 10

const isRun = (id: string) => id.startsWith('run_')
const isExecution = (id: string) => id.startsWith('exec_')
export const isCause = (id: string): boolean => isRun(id) || isExecution(id)

/** Number of runs and executions that caused the request. Throws `conflict` above the maximum. */
export function computeRequestDepth({
  causationId = null,
  causationDepth = 0,
}: Pick<RequestMeta, 'causationId' | 'causationDepth'>): number {
  const isCaused = causationId !== null && isCause(causationId)
  const depth = isCaused ? causationDepth + 1 : 0
  if (depth <= maxCausationDepth) return depth
  throw causationTooDeep()
}

/** The chain of runs and executions that caused one another is too long. */
export function causationTooDeep(): ApiError {
  const message = `Runs and executions have caused one another ${maxCausationDepth} levels deep; this one causes no other.`
  return new ApiError('conflict', message, {
    details: [{ in: 'header', path: '', code: 'too_deep', message, params: { max: maxCausationDepth } }],
  })
}

/** Number of runs and executions that caused each of these. Deleted ones are absent. */
export type DepthsOf = (ids: readonly string[]) => Promise<ReadonlyMap<string, number>>

/**
 * Depths of runs or executions of another service. Throws `service_unavailable` or
 * `upstream_timeout` if it does not answer.
 */
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

/** The run or execution that is the event's resource, or that caused the event. */
export const findEventCause = ({
  resource,
  causationId,
}: {
  resource: { id: string }
  causationId: string | null
}): string | undefined => [resource.id, causationId ?? ''].find(isCause)

/**
 * Returns the depth of consequences of each event: the depth of its cause plus one, or 0 if the
 * event has no cause or the cause no longer exists.
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

/** Computes the depth of the consequences of events. */
export type DepthsAfter = ReturnType<typeof createCauses>
