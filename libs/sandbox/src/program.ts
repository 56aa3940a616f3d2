import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ChildProgram } from './pool/program.js'

/**
 * The program of a child: the compiled module in `dist`. This also works in a bundle, where `import.meta.url` is the URL
 * of the compiled file (ADR 042).
 */
export function expressionProgram(heapMb: number): ChildProgram {
  const own = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '')
  const resolveFrom = createRequire(import.meta.url)
  return {
    file: fileURLToPath(new URL('./child/main.js', import.meta.url)),
    readable: [own, dirname(resolveFrom.resolve('jsonata'))],
    heapMb,
  }
}
