import { createRequire } from 'node:module'
import { dirname, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ChildProgram } from '../pool/program.js'

const resolveFrom = createRequire(import.meta.url)
const ownFolder = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '')

/** Folders of the engine's packages, with the links to what they import, wherever the package manager has put them. */
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

/** Native stack in KB: QuickJS comes to its own limit before it, where the system gives a process 8 MB as usual. */
const stackKb = 2_400

/**
 * Bytes of a function V8 runs before it optimizes it: what starts a child and what most code does stay below, as optimizing the
 * interpreter takes as much CPU as some hundred small runs, while the first of them wait.
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
