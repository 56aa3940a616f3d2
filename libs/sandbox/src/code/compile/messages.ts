import { z } from 'zod'
import { type ChildPool, PoolError } from '../../pool/pool.js'
import { joinMap } from '../stack.js'
import type { Compiled, Diagnostic } from '../types.js'

/** Request to a compiling child. */
export interface CompileRequest {
  source: string
  fileName: string
}

const CompileReply = z.union([
  z.object({ script: z.string(), map: z.string() }),
  z.object({
    diagnostics: z.array(z.object({ message: z.string(), line: z.int(), column: z.int() })).min(1),
  }),
])
export type CompileReply = z.infer<typeof CompileReply>

const maxSourceBytes = 2 * 1024 * 1024

const fault = (message: string): Compiled => ({
  ok: false,
  diagnostics: [{ message, line: 1, column: 1 } satisfies Diagnostic],
})

/** The text of the request, or the faults that are detected without a child. */
export function compileRequest(request: CompileRequest): string | Compiled {
  if (Buffer.byteLength(request.source) > maxSourceBytes)
    return fault(`The source has more than ${maxSourceBytes} bytes.`)
  if (request.source.includes('\0')) return fault('The source has a NUL character: write it as \\0.')
  return JSON.stringify(request)
}

/** Rejects with `PoolError` if the failure is not caused by the source. */
export async function requestCompilation(
  pool: ChildPool,
  request: { tenant: string; text: string; deadlineMs: number },
): Promise<Compiled> {
  try {
    const reply = await pool.run({ ...request, parse: (text) => CompileReply.parse(JSON.parse(text)) })
    return 'diagnostics' in reply
      ? { ok: false, diagnostics: reply.diagnostics }
      : { ok: true, code: joinMap(reply.script, reply.map) }
  } catch (error) {
    if (error instanceof PoolError && ofSource.has(error.failure))
      return fault('The source is too large or too deeply nested to be compiled.')
    throw error
  }
}

const ofSource = new Set<string>(['deadline', 'memory', 'too_large', 'crashed'])
