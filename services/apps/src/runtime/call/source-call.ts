import { ApiError, type AppActionRequest, tenantKey } from '@opsplane/contracts'
import type { CallOperation, OperationInput } from '@opsplane/http'
import type { Expressions, Template } from '@opsplane/sandbox'
import type { CompiledSource } from '../compiled.js'
import { buildScope, type DeploymentUse } from '../deployment-use.js'

/** One use of a data source, with parsed parameters. */
export interface SourceCall {
  running: DeploymentUse
  source: CompiledSource
  params: Record<string, unknown>
  /** Idempotency key: the same for a repeated request. */
  key: string
  signal: AbortSignal
}

/** Data that a page shows. */
export interface Shown {
  rows: Record<string, unknown>[] | null
  value: unknown
  nextCursor: string | null
}

export type RowAction = Pick<AppActionRequest, 'operation' | 'id' | 'values' | 'version'>

export interface CallParts {
  call: CallOperation
  expressions: Pick<Expressions, 'evaluate'>
}

/** Evaluates templates of the source, in order. Throws `validation_failed` if an expression fails. */
export async function evaluateTemplates(
  { expressions }: Pick<CallParts, 'expressions'>,
  { running, params, signal }: SourceCall,
  templates: readonly Template[],
  more: Record<string, unknown> = {},
): Promise<unknown[]> {
  const results = await expressions.evaluate({
    tenant: tenantKey(running.tenant),
    templates,
    scope: { ...buildScope(running, params), ...more },
    signal,
  })
  return results.map((result) => {
    if (result.ok) return result.value
    const { code, message } = result.error
    if (code === 'expression_unavailable' || code === 'expression_overloaded')
      throw new ApiError('service_unavailable', 'Expressions cannot be evaluated at the moment.')
    throw new ApiError('validation_failed', `An expression of the data source ${message}.`)
  })
}

/** Calls an operation with the rights of the app's user. */
export async function callOperation(
  { call }: Pick<CallParts, 'call'>,
  { running, key, signal }: SourceCall,
  operationId: string,
  input: Partial<OperationInput>,
  timeoutMs?: number,
) {
  const caller = { ...(await running.caller(key)), signal, ...(timeoutMs !== undefined && { timeoutMs }) }
  return call(caller, operationId, { params: {}, query: {}, ...input })
}
