import {
  ApiError,
  type Execution,
  invalidField,
  ReplayExecution,
  type TenantScope,
} from '@opsplane/contracts'
import { computeRequestDepth, type RequestMeta } from '@opsplane/http'
import type { Database } from '@opsplane/postgres'
import type { ExecutionCaller } from '../execution/model.js'
import { getExecution } from '../execution/queries.js'
import type { Executions } from './executions.js'
import { findInputRecords, type Invoker, toExecutionCaller } from './invoker.js'
import type { ExecutionRequest } from './request.js'
import { validateInput } from './schemas.js'

export interface ExecutionReplays {
  replay(id: string, options: ReplayExecution, meta: RequestMeta): Promise<Execution>
  /** Accepts an unchanged replay of an execution, for any replica to start. */
  accept(id: string, by: ReplayCaller): Promise<void>
  cancel(id: string, meta: RequestMeta): Promise<Execution>
}

/** The requester of a replay. */
export interface ReplayCaller extends Pick<ExecutionRequest, 'now' | 'requestId' | 'traceparent'> {
  /** Number of executions and runs in its chain of causes. */
  depth: number
  tenant: TenantScope
  userId: string
  caller: ExecutionCaller
}

/** Operations of users on logged executions. */
export function createExecutionReplays(
  { sql }: Pick<Database, 'sql'>,
  { load, perform }: Invoker,
  executions: Pick<Executions, 'accept' | 'cancel'>,
): ExecutionReplays {
  const buildRequest = async (
    id: string,
    options: ReplayExecution,
    by: ReplayCaller,
  ): Promise<ExecutionRequest> => {
    const { shown, artifactId, executionType, inputMasked, records } = await getExecution(sql, id, by.tenant)
    if (inputMasked && options.input === undefined)
      throw shown.omitted
        ? invalidField('/input', 'omitted', 'The original input was not kept: give the input.')
        : invalidField('/input', 'masked', 'Parts of the original input are masked: give the input.')
    const artifact = await load(by.tenant, artifactId, options.version ?? shown.artifact_version).catch(
      (error: unknown) => {
        throw error instanceof ApiError && error.code === 'not_found' ? removed(shown.artifact_slug) : error
      },
    )
    const input = validateInput(artifact.inputSchema, options.input ?? shown.input)
    const { tenant, now, requestId, traceparent, depth, caller, userId } = by
    return {
      ...{
        tenant,
        artifact,
        input,
        now,
        requestId,
        traceparent,
        caller,
        ...(depth !== undefined && { depth }),
      },
      ...{ replayOf: id, timeoutMs: options.timeoutMs, type: executionType },
      records: options.input === undefined ? records : [...records, ...findInputRecords(input)],
      trigger: { type: 'manual', id: userId },
    }
  }

  return {
    async replay(id, options, meta) {
      const { tenant, now, requestId, traceparent, principal } = meta
      const by = {
        ...{ tenant, now, requestId, traceparent, userId: principal.userId },
        depth: computeRequestDepth(meta),
      }
      const request = await buildRequest(id, options, { ...by, caller: toExecutionCaller(principal) })
      return perform(request, options, meta)
    },

    async accept(id, by) {
      await executions.accept(await buildRequest(id, ReplayExecution.parse({ mode: 'async' }), by))
    },

    async cancel(id, { tenant }) {
      const wasRunning = await executions.cancel(id, tenant)
      const { shown } = await getExecution(sql, id, tenant)
      if (!wasRunning)
        throw new ApiError('invalid_state_transition', `It has ended already, as ${shown.status}.`)
      return shown
    },
  }
}

/** The artifact may no longer act: the grant it used ended with its pack. */
const removed = (slug: string) =>
  new ApiError('conflict', `The artifact ${slug} is not installed any more. Install its pack to replay this.`)
