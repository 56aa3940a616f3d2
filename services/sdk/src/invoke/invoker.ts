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
  secretsHeader,
  type TenantScope,
} from '@opsplane/contracts'
import { storeIdempotentResponse } from '@opsplane/eventstore'
import { computeRequestDepth, grantCallers, type RequestMeta } from '@opsplane/http'
import type { Database } from '@opsplane/postgres'
import type { ArtifactLoader, LoadedArtifact } from '../artifact/loader.js'
import type { ExecutionCaller, TouchedRecord } from '../execution/model.js'
import { getExecution } from '../execution/queries.js'
import { keyMs } from '../execution/retention.js'
import type { Executions } from './executions.js'
import { parseRecordId } from './host/touched-records.js'
import type { ExecutionRequest } from './request.js'
import type { CallerResult, ReadResult } from './results.js'
import { validateInput } from './schemas.js'

export interface InvokerOptions {
  database: Database
  loading: Pick<ArtifactLoader, 'loadArtifact'>
  executions: Executions
  readResult: ReadResult
}

export interface Invoker {
  /**
   * Loads an artifact of the caller's environment. Throws `not_found`, or `validation_failed` if only the version does
   * not exist.
   */
  load(tenant: TenantScope, idOrSlug: string, version?: number): Promise<LoadedArtifact>
  invoke(idOrSlug: string, body: InvokeArtifact, meta: RequestMeta): Promise<Execution>
  /**
   * Runs a request once for its key. Throws if the key was used for a different request or its execution has
   * not ended.
   */
  once(request: ExecutionRequest, options: InvokeMode): Promise<CallerResult & { isRepeated: boolean }>
  /** The same for the idempotency key of a request, storing the response. */
  perform(request: ExecutionRequest, options: InvokeMode, meta: RequestMeta): Promise<Execution>
}

type InvokeMode = Pick<InvokeArtifact, 'mode'> & { retryFailed?: boolean }

export function createInvoker({ database, loading, executions, readResult }: InvokerOptions): Invoker {
  const { sql } = database

  const load: Invoker['load'] = async (tenant, idOrSlug, version) => {
    const artifact = await loading.loadArtifact(tenant, idOrSlug, version)
    if (artifact) return artifact
    const isThere = version !== undefined && (await loading.loadArtifact(tenant, idOrSlug))
    throw isThere
      ? invalidField('/version', 'unknown_version', `There is no version ${version} of ${idOrSlug}.`)
      : notFound()
  }

  /** The execution a key has led to, with which the request is answered; `undefined` if the key may start a new one. */
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
    const found = await readResult(await getExecution(sql, row.execution_id, tenant))
    const { status } = found.execution
    const hasFailed = status !== 'running' && status !== 'completed'
    return retryFailed && hasFailed ? undefined : found
  }

  async function repeated(request: ExecutionRequest, options: InvokeMode) {
    const { key, fingerprint } = request.key ?? {}
    if (key === undefined || typeof fingerprint !== 'string')
      throw new Error('only a key leads to one before')
    const found = await ledTo({ key, fingerprint }, options.retryFailed ?? false, request)
    if (found && (options.mode === 'async' || found.execution.status !== 'running')) return found
    if (found)
      throw new ApiError('idempotency_in_progress', 'The execution of this Idempotency-Key is still running.')
    // The request that frees the key starts the execution; a concurrent one finds the execution that was started.
    await sql.unsafe('delete from execution_keys where key = $1', [key], { prepare: true })
    const begun = await begin(request, options)
    if (!begun)
      throw new ApiError('idempotency_in_progress', 'A request with this Idempotency-Key is in progress.')
    return begun
  }

  async function begin(request: ExecutionRequest, { mode }: InvokeMode): Promise<CallerResult | undefined> {
    if (mode !== 'async') return executions.run(request)
    const execution = await executions.accept(request)
    return execution && { execution, isSealed: false, secrets: [] }
  }

  const once: Invoker['once'] = async (request, options) => {
    const begun = await begin(request, options)
    return begun
      ? { ...begun, isRepeated: false }
      : { ...(await repeated(request, options)), isRepeated: true }
  }

  async function keep(
    { execution, isSealed }: Pick<CallerResult, 'execution' | 'isSealed'>,
    retryFailed: boolean,
    meta: RequestMeta,
  ) {
    if (!meta.idempotency) return
    // Executions that may be restarted or are sealed are answered from the log, which has them under their key.
    if (isSealed || (retryFailed && execution.status !== 'completed'))
      return void meta.idempotency.respond(execution)
    await database.db
      .transaction((tx) => storeIdempotentResponse(tx, meta, execution))
      .catch((error: unknown) => {
        // The log has the execution under its key as well.
        if (!(error instanceof IdempotencyRaceError))
          meta.log().warn({ err: error }, 'an answer could not be stored under its Idempotency-Key')
      })
  }

  const perform: Invoker['perform'] = async (request, options, meta) => {
    const { idempotency } = meta
    const key = idempotency && { key: `request/${idempotency.key}`, fingerprint: idempotency.fingerprint }
    const { isRepeated, isSealed, secrets, ...ran } = await once({ ...request, key: key ?? null }, options)
    if (idempotency && isRepeated) idempotency.isReplayed = true
    const execution =
      requestsSecrets(meta) && secrets.length > 0 ? { ...ran.execution, secrets } : ran.execution
    await keep({ execution, isSealed }, options.retryFailed ?? false, meta)
    return execution
  }

  return {
    ...{ load, once, perform },
    async invoke(idOrSlug, body, meta) {
      const artifact = await load(meta.tenant, idOrSlug, body.version)
      const request: ExecutionRequest = {
        ...{
          tenant: meta.tenant,
          artifact,
          trigger: toTrigger(meta),
          now: meta.now,
          requestId: meta.requestId,
          traceparent: meta.traceparent,
        },
        type: meta.delegate?.by === 'workflows' ? 'workflow_action' : 'api',
        input: validateInput(artifact.inputSchema, body.input),
        caller: toExecutionCaller(meta.principal),
        timeoutMs: body.timeoutMs,
        depth: computeRequestDepth(meta),
        records: findInputRecords(body.input),
      }
      return perform(request, body, meta)
    },
  }
}

const requestsSecrets = ({ delegate, header }: RequestMeta): boolean =>
  delegate?.by === 'workflows' && header(secretsHeader) === 'true'

export const toExecutionCaller = (principal: Principal): ExecutionCaller => ({
  permissions: principal.permissions,
  people: grantCallers(principal),
})

/** The trigger of an execution requested by an API call. */
export function toTrigger({ delegate, causationId, principal }: RequestMeta): {
  type: ExecutionTrigger
  id: string | null
} {
  if (delegate?.by === 'workflows') return { type: 'workflow_node', id: causationId ?? delegate.run }
  const isPerson = principal.tokenId.startsWith('ses_')
  return { type: isPerson ? 'manual' : 'api', id: isPerson ? principal.userId : principal.tokenId }
}

const maxRecords = 20

/** Records identified by some of these values, such as those of `{ "incidentId": "inc_…" }`. */
export const findRecords = (values: readonly unknown[]): TouchedRecord[] =>
  values.flatMap((value) => parseRecordId(value) ?? []).slice(0, maxRecords)

/** Records identified in an input. */
export const findInputRecords = (input: unknown): TouchedRecord[] =>
  findRecords(typeof input === 'object' && input !== null ? Object.values(input) : [])
