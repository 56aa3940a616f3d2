import { createHash } from 'node:crypto'
import { ApiError, type HostFunctionName } from '@opsplane/contracts'
import { CallFailure } from '@opsplane/http'
import type { Logger } from '@opsplane/runtime'
import { HostError, type HostFunctions, type Json } from '@opsplane/sandbox'
import { inSpan, traceFields } from '@opsplane/telemetry'
import { z } from 'zod'
import type { HostContext, HostFunction } from './host-call.js'

export type HostFunctionTable = Record<HostFunctionName, HostFunction>

export interface HostOptions {
  functions: HostFunctionTable
  context: Omit<HostContext, 'key' | 'signal' | 'timeoutMs'>
  /** Milliseconds until the execution must end. */
  leftMs(): number
  log: Logger
}

/** Larger responses are not passed to the code. */
const maxBytes = 4 * 1024 * 1024

/** Implements `host` for one execution. Each call is checked against the artifact's declarations. */
export function createHost({ functions, context, leftMs, log }: HostOptions): HostFunctions {
  const made = new Map<string, number>()
  /** The same call made twice has two keys, numbered in call order. */
  const keyOf = (name: string, args: Json[]) => {
    const content = createHash('sha256')
      .update(JSON.stringify([name, args]))
      .digest('base64url')
      .slice(0, 22)
    const times = made.get(content) ?? 0
    made.set(content, times + 1)
    return `${context.executionId}.${content}.${times}`
  }
  return async ({ name, args }, signal) => {
    const call = Object.hasOwn(functions, name) ? functions[name as HostFunctionName] : undefined
    if (!call) throw new HostError('unknown_function', `There is no host function ${name}.`)
    const timeoutMs = Math.max(Math.floor(leftMs()), 1)
    try {
      const key = keyOf(name, args)
      const answer = await inSpan(`host ${name}`, context.traceparent, (traceparent) =>
        call({ ...context, traceparent, key, signal, timeoutMs }, args[0]),
      )
      if (JSON.stringify(answer).length > maxBytes)
        throw new HostError('response_too_large', `The answer is larger than ${maxBytes} bytes.`)
      return answer
    } catch (error) {
      throw seenByCode(error, name, log.child(traceFields(context.traceparent)))
    }
  }
}

function seenByCode(error: unknown, name: string, log: Logger): HostError {
  if (error instanceof HostError) return error
  if (error instanceof z.ZodError) {
    const [issue] = error.issues
    const path = issue?.path.join('.') ?? ''
    return new HostError('invalid_argument', `${name}: ${path === '' ? '' : `${path}: `}${issue?.message}`)
  }
  if (error instanceof CallFailure)
    // Parsed from JSON, or composed of strings and numbers.
    return new HostError(error.code, error.message, (error.details ?? null) as Json)
  if (error instanceof ApiError) return new HostError(error.code, error.message)
  log.warn({ err: error, function: name }, 'a host function has failed')
  return new HostError('internal_error', 'The host function failed.')
}
