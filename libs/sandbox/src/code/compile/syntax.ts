import { SourceMap, type SourceMapPayload } from 'node:module'
import { createEngine } from '../child/engine.js'
import type { Diagnostic } from '../types.js'

const engine = createEngine()
const memoryMb = 128

/** A module that does not exist: a script that imports it is parsed, but not run. */
const absent = 'not there'

/**
 * The syntax error that QuickJS reports for a script, such as a duplicate declaration, with its position in the source.
 * Runs no code. The compile-only option of the QuickJS binding is not used: for modules it dereferences an unset
 * pointer, and fails at random.
 */
export async function syntaxFault(script: string, map: string): Promise<Diagnostic | undefined> {
  const { quickjs } = await engine.acquire(memoryMb)
  const runtime = quickjs.newRuntime()
  runtime.setModuleLoader((name) => (name === absent ? { error: new Error(absent) } : ''))
  const context = runtime.newContext()
  const result = context.evalCode(`${script}\nimport '${absent}'`, 'script.js', { type: 'module' })
  const thrown = result.error && (context.dump(result.error) as Thrown | undefined)
  result.dispose()
  context.dispose()
  runtime.dispose()
  return thrown?.message === absent ? undefined : readFault(thrown, map)
}

type Thrown = { message?: unknown; stack?: unknown }

function readFault(thrown: Thrown | undefined, map: string): Diagnostic {
  if (!thrown) return { message: 'The source is too large to be compiled.', line: 1, column: 1 }
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
