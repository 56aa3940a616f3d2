import { SourceMap, type SourceMapPayload } from 'node:module'
import { createEngine } from '../child/engine.js'
import type { Diagnostic } from '../types.js'

const engine = createEngine()
const memoryMb = 128

/** What QuickJS does not take of a script, such as a name declared twice, in the source's lines; it runs nothing. */
export async function syntaxFault(script: string, map: string): Promise<Diagnostic | undefined> {
  const { quickjs } = await engine.take(memoryMb)
  const runtime = quickjs.newRuntime()
  runtime.setModuleLoader(() => '')
  const context = runtime.newContext()
  const result = context.evalCode(script, 'script.js', { type: 'module', compileOnly: true })
  const fault = result.error && readFault(context.dump(result.error), map)
  result.dispose()
  context.dispose()
  runtime.dispose()
  return fault
}

function readFault(thrown: { message?: unknown; stack?: unknown } | undefined, map: string): Diagnostic {
  // QuickJS fails without a reason at some exported functions that can never return, such as `() => { for (;;); }`.
  if (!thrown) return { message: 'Not compiled: is there a function that can never end?', line: 1, column: 1 }
  const [, row = '1', column = '1'] = /script\.js:(\d+):(\d+)/.exec(String(thrown.stack)) ?? []
  const entry = new SourceMap(JSON.parse(map) as SourceMapPayload).findEntry(
    Number(row) - 1,
    Number(column) - 1,
  )
  const message = `${String(thrown.message)}.`
  return 'originalLine' in entry
    ? { message, line: entry.originalLine + 1, column: entry.originalColumn + 1 }
    : { message, line: 1, column: 1 }
}
