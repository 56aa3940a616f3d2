import { ApiError, type Execution, invalidField, type ReplayExecution } from '@opsplane/contracts'
import { computeRequestDepth, type RequestMeta } from '@opsplane/http'
import type { Database } from '@opsplane/postgres'
import { getExecution } from '../execution/queries.js'
import type { Executions } from './executions.js'
import { executionCaller, type Invoking, recordsInInput } from './invoking.js'
import { checkedInput } from './schemas.js'

export interface Replaying {
  replay(id: string, asked: ReplayExecution, meta: RequestMeta): Promise<Execution>
  cancel(id: string, meta: RequestMeta): Promise<Execution>
}

/** What people do with executions of the log. */
export function createReplaying(
  { sql }: Pick<Database, 'sql'>,
  { load, perform }: Invoking,
  executions: Pick<Executions, 'cancel'>,
): Replaying {
  return {
    async replay(id, asked, meta) {
      const { shown, artifactId, executionType, inputMasked, records } = await getExecution(
        sql,
        id,
        meta.tenant,
      )
      if (inputMasked && asked.input === undefined)
        throw shown.omitted
          ? invalidField('/input', 'omitted', 'The original input was not kept: give the input.')
          : invalidField('/input', 'masked', 'Parts of the original input are masked: give the input.')
      const artifact = await load(meta.tenant, artifactId, asked.version ?? shown.artifact_version).catch(
        (error: unknown) => {
          throw error instanceof ApiError && error.code === 'not_found' ? removed(shown.artifact_slug) : error
        },
      )
      const input = checkedInput(artifact.inputSchema, asked.input ?? shown.input)
      const { tenant, now, requestId, traceparent, principal } = meta
      const about = asked.input === undefined ? records : [...records, ...recordsInInput(input)]
      return perform(
        {
          ...{
            tenant,
            artifact,
            input,
            now,
            requestId,
            traceparent,
            replayOf: id,
            timeoutMs: asked.timeoutMs,
          },
          records: about,
          ...{
            depth: computeRequestDepth(meta),
            caller: executionCaller(principal),
            type: executionType,
            trigger: { type: 'manual', id: principal.userId },
          },
        },
        asked,
        meta,
      )
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

/** It may do nothing by now: the grant it acted by has ended with its pack. */
const removed = (slug: string) =>
  new ApiError('conflict', `The artifact ${slug} is not installed any more. Install its pack to replay this.`)
