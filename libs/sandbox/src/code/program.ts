import { createRequire } from 'node:module'
import { dirname, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ChildProgram } from '../pool/program.js'

const resolveFrom = createRequire(import.meta.url)
const ownFolder = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '')

/** The `node_modules` folders that contain the engine's packages and their dependencies, for any package manager's layout. */
function engineFolders(): string[] {
  const core = resolveFrom.resolve('quickjs-emscripten-core')
  const files = [
    core,
    resolveFrom.resolve('@jitl/quickjs-wasmfile-release-sync'),
    createRequire(core).resolve('@jitl/quickjs-ffi-types'),
  ]
  return files.map((file) => file.slice(0, file.lastIndexOf(packages) + packages.length))
}
const packages = `${sep}node_modules`

/** Native stack in KB. QuickJS reaches its own limit first if the process has the usual stack of 8 MB. */
const stackKb = 2_400

/**
 * V8's threshold for optimizing a WebAssembly function. The start of a child and most code stay below it: optimizing the
 * interpreter takes as much CPU time as some hundred small runs, and would delay the first ones.
 */
const tieringBudget = 60_000_000

/** Runs code of a tenant. */
export const codeProgram = (heapMb: number): ChildProgram => ({
  file: fileURLToPath(new URL('./child/main.js', import.meta.url)),
  readable: [ownFolder, ...engineFolders()],
  heapMb,
  flags: [`--stack-size=${stackKb}`, '--expose-gc', `--wasm-tiering-budget=${tieringBudget}`],
})

/** Compiles sources. */
export const compileProgram = (heapMb: number): ChildProgram => ({
  file: fileURLToPath(new URL('./compile/main.js', import.meta.url)),
  readable: [ownFolder, ...engineFolders(), dirname(resolveFrom.resolve('typescript'))],
  heapMb,
  flags: [`--stack-size=${stackKb}`],
})
