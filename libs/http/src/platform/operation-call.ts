import { z } from 'zod'
import { CallFailure } from '../calls/call-failure.js'
import { valueText } from '../calls/value-text.js'
import type { Operations } from './operations.js'
import type { CallPlatform, PlatformCaller } from './platform-call.js'

/** Input of an operation: path parameters, query and body. */
export const OperationInput = z.object({
  params: z.record(z.string(), z.unknown()).default({}),
  query: z.record(z.string(), z.unknown()).default({}),
  body: z.unknown().optional(),
})
export type OperationInput = z.output<typeof OperationInput>

interface OperationAnswer {
  status: number
  data: unknown
  /** Lists only. */
  pagination?: unknown
}

/** Throws a `CallFailure` for any response with status 400 or above, and if there is none. */
export type CallOperation = (
  caller: PlatformCaller,
  operationId: string,
  input: OperationInput,
) => Promise<OperationAnswer>

const Answer = z.object({ data: z.unknown(), pagination: z.unknown().optional() }).loose()
const methods = { get: 'GET', post: 'POST', put: 'PUT', patch: 'PATCH', delete: 'DELETE' } as const
const isMethod = (method: string): method is keyof typeof methods => method in methods

/** Calls any operation of this platform by its id. */
export function createCallOperation(operations: Operations, callPlatform: CallPlatform): CallOperation {
  return async (caller, operationId, { params, query, body }) => {
    const operation = await operations.find(operationId)
    const method = operation?.method.toLowerCase() ?? ''
    if (!operation || !isMethod(method))
      throw new CallFailure(
        'unknown_operation',
        `There is no operation ${operationId}, or its service does not answer.`,
        { retryable: true },
      )
    const { status, body: answer } = await callPlatform(caller, {
      service: operation.service,
      method: methods[method],
      path: `${pathOf(operation.path, params)}${queryOf(query)}`,
      ...(body !== undefined && { body }),
    })
    const envelope = Answer.safeParse(answer)
    if (!envelope.success) return { status, data: answer ?? null }
    const { data, pagination } = envelope.data
    return { status, data: data ?? null, ...(pagination !== undefined && { pagination }) }
  }
}

function pathOf(pattern: string, params: Record<string, unknown>): string {
  return pattern.replaceAll(/([:*])([A-Za-z0-9_]+)/g, (_, mark: string, name: string) => {
    const value = valueText(params[name])
    if (mark === '*') return restOf(name, value ?? '')
    if (value === undefined || value === '')
      throw new CallFailure('missing_param', `The operation needs the parameter ${name}.`, {
        details: { param: name },
      })
    // `.` and `..` would address another path, and neither is a valid id.
    if (isFolder(value)) throw new CallFailure('invalid_param', `${name} cannot be ${value}.`)
    return encodeURIComponent(value)
  })
}

const isFolder = (segment: string) => segment === '.' || segment === '..'

/** The rest parameter of a path, which may be empty. */
function restOf(name: string, value: string): string {
  const segments = value.split('/')
  if (segments.some(isFolder)) throw new CallFailure('invalid_param', `${name} cannot have . or .. in it.`)
  return segments.map(encodeURIComponent).join('/')
}

function queryOf(query: Record<string, unknown>): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    for (const each of Array.isArray(value) ? value : [value]) {
      const text = valueText(each)
      if (text !== undefined) search.append(name, text)
    }
  }
  const text = search.toString()
  return text === '' ? '' : `?${text}`
}
