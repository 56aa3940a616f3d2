import {
  ApiError,
  type Execution,
  type ExecutionTrigger,
  IdempotencyRaceError,
  type InvokeArtifact,
  idTime,
  invalidField,
  notFound,
  type Principal,
  type TenantScope,
} from '@opsplane/contracts'
import { keepAnswer } from '@opsplane/eventstore'
import { depthOfRequest, grantCallers, type RequestMeta } from '@opsplane/http'
import type { Database } from '@opsplane/postgres'
import type { ArtifactLoading, LoadedArtifact } from '../artifact/loading.js'
import type { ExecutionCaller, TouchedRecord } from '../execution/model.js'
import { getExecution } from '../execution/queries.js'
import type { Executions } from './executions.js'
import { recordOf } from './host/touched.js'
import type { ExecutionRequest } from './request.js'
import { checkedInput } from './schemas.js'

export interface InvokingOptions {
  database: Database
  loading: Pick<ArtifactLoading, 'loadArtifact'>
  executions: Executions
}

export interface Invoking {
  /** An artifact of the caller's environment, as it runs. Throws `not_found`; `validation_failed` for another version of one. */
  load(tenant: TenantScope, idOrSlug: string, version?: number): Promise<LoadedArtifact>
  invoke(idOrSlug: string, asked: InvokeArtifact, meta: RequestMeta): Promise<Execution>
  /** Has it done once for its key; throws where that has led to something else, or to what is not over. */
  once(request: ExecutionRequest, asked: Asked): Promise<{ execution: Execution; isRepeated: boolean }>
  /** The same for the Idempotency-Key of a request, whose answer is kept. */
  perform(request: ExecutionRequest, asked: Asked, meta: RequestMeta): Promise<Execution>
}

type Asked = Pick<InvokeArtifact, 'mode'> & { retryFailed?: boolean }

/** As long as any Idempotency-Key. */
const keyMs = 24 * 3_600_000

export function createInvoking({ database, loading, executions }: InvokingOptions): Invoking {
  const { sql } = database

  const load: Invoking['load'] = async (tenant, idOrSlug, version) => {
    const artifact = await loading.loadArtifact(tenant, idOrSlug, version)
    if (artifact) return artifact
    const isThere = version !== undefined && (await loading.loadArtifact(tenant, idOrSlug))
    throw isThere
      ? invalidField('/version', 'unknown_version', `There is no version ${version} of ${idOrSlug}.`)
      : notFound()
  }

  /** The execution a key has led to, which the request is answered with; undefined where it may lead to another. */
  async function ledTo(
    { key, fingerprint }: { key: string; fingerprint: string },
    retryFailed: boolean,
    { now, tenant }: Pick<ExecutionRequest, 'now' | 'tenant'>,
  ) {
    const [row] = await sql.unsafe<{ execution_id: string; fingerprint: string }[]>(
      'select execution_id, fingerprint from execution_keys where key = $1',
      [key],
      { prepare: true },
    )
    if (!row || idTime(row.execution_id) < Date.parse(now) - keyMs) return undefined
    if (row.fingerprint !== fingerprint)
      throw new ApiError('idempotency_key_reused', 'This Idempotency-Key was used for another request.')
    const { shown } = await getExecution(sql, row.execution_id, tenant)
    const hasFailed = shown.status !== 'running' && shown.status !== 'completed'
    return retryFailed && hasFailed ? undefined : shown
  }

  async function repeated(request: ExecutionRequest, asked: Asked) {
    const { key, fingerprint } = request.key ?? {}
    if (key === undefined || typeof fingerprint !== 'string')
      throw new Error('only a key leads to one before')
    const shown = await ledTo({ key, fingerprint }, asked.retryFailed ?? false, request)
    if (shown && (asked.mode === 'async' || shown.status !== 'running')) return shown
    if (shown)
      throw new ApiError('idempotency_in_progress', 'The execution of this Idempotency-Key is not over yet.')
    // Whoever frees it begins it; of two at once the other one finds what was begun.
    await sql.unsafe('delete from execution_keys where key = $1', [key], { prepare: true })
    const begun = await begin(request, asked)
    if (!begun)
      throw new ApiError('idempotency_in_progress', 'A request with this Idempotency-Key is being worked on.')
    return begun
  }

  const begin = (request: ExecutionRequest, { mode }: Asked) =>
    mode === 'async' ? executions.accept(request) : executions.run(request)

  const once: Invoking['once'] = async (request, asked) => {
    const begun = await begin(request, asked)
    return begun
      ? { execution: begun, isRepeated: false }
      : { execution: await repeated(request, asked), isRepeated: true }
  }

  async function keep(execution: Execution, retryFailed: boolean, meta: RequestMeta) {
    if (!meta.idempotency) return
    // What may be begun anew is answered by the log alone, which has it under its key.
    if (retryFailed && execution.status !== 'completed') return void meta.idempotency.respond(execution)
    await database.db
      .transaction((tx) => keepAnswer(tx, meta, execution))
      .catch((error: unknown) => {
        // It is in the log under its key as well.
        if (!(error instanceof IdempotencyRaceError))
          meta.log().warn({ err: error }, 'an answer could not be stored under its Idempotency-Key')
      })
  }

  const perform: Invoking['perform'] = async (request, asked, meta) => {
    const { idempotency } = meta
    const key = idempotency && { key: `request/${idempotency.key}`, fingerprint: idempotency.fingerprint }
    const { execution } = await once({ ...request, key: key ?? null }, asked)
    await keep(execution, asked.retryFailed ?? false, meta)
    return execution
  }

  return {
    ...{ load, once, perform },
    async invoke(idOrSlug, asked, meta) {
      const artifact = await load(meta.tenant, idOrSlug, asked.version)
      const request: ExecutionRequest = {
        ...{
          tenant: meta.tenant,
          artifact,
          trigger: triggerOf(meta),
          now: meta.now,
          requestId: meta.requestId,
          traceparent: meta.traceparent,
        },
        type: meta.delegate?.by === 'workflows' ? 'workflow_action' : 'api',
        input: checkedInput(artifact.inputSchema, asked.input),
        caller: executionCaller(meta.principal),
        timeoutMs: asked.timeoutMs,
        depth: depthOfRequest(meta),
        records: recordsInInput(asked.input),
      }
      return perform(request, asked, meta)
    },
  }
}

export const executionCaller = (principal: Principal): ExecutionCaller => ({
  permissions: principal.permissions,
  people: grantCallers(principal),
})

/** What has triggered what a request asks for. */
export function triggerOf({ delegate, causationId, principal }: RequestMeta): {
  type: ExecutionTrigger
  id: string | null
} {
  if (delegate?.by === 'workflows') return { type: 'workflow_node', id: causationId ?? delegate.run }
  const isPerson = principal.tokenId.startsWith('ses_')
  return { type: isPerson ? 'manual' : 'api', id: isPerson ? principal.userId : principal.tokenId }
}

const mostRecords = 20

/** Records that some of these values name, such as those of `{ "incidentId": "inc_…" }`. */
export const recordsIn = (values: readonly unknown[]): TouchedRecord[] =>
  values.flatMap((value) => recordOf(value) ?? []).slice(0, mostRecords)

/** Those that an input names. */
export const recordsInInput = (input: unknown): TouchedRecord[] =>
  recordsIn(typeof input === 'object' && input !== null ? Object.values(input) : [])
