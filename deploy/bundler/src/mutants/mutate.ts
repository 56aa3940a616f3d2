import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { transformSync } from 'esbuild'
import type { Mutant } from './table.js'

export type Verdict = 'caught' | 'survived' | 'timed out'

/** Returns the source with the fault applied. Throws unless `search` occurs exactly once. */
export function applyMutant(source: string, { name, search, replace }: Mutant): string {
  const found = source.split(search).length - 1
  if (found !== 1) throw new Error(`${name}: its search stands in the source ${found} times instead of once`)
  return source.replace(search, () => replace)
}

/** Runs a mutant's tests on the compiled code with the fault applied, then restores the code. */
export async function tryMutant(root: string, mutant: Mutant, timeoutMs: number): Promise<Verdict> {
  const compiled = join(root, mutant.file.replace('/src/', '/dist/').replace(/\.ts$/, '.js'))
  const original = readFileSync(compiled, 'utf8')
  const source = applyMutant(readFileSync(join(root, mutant.file), 'utf8'), mutant)
  const restore = () => writeFileSync(compiled, original)
  process.once('exit', restore)
  try {
    writeFileSync(compiled, transpiled(source))
    return await runTests(root, mutant.tests, timeoutMs, mutant.title)
  } finally {
    restore()
    process.off('exit', restore)
  }
}

const transpiled = (source: string): string =>
  transformSync(source, {
    loader: 'ts',
    format: 'esm',
    target: 'es2023',
    tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true } },
  }).code

/** Runs the tests: `caught` if one fails, `survived` if all pass, `timed out` if they take longer than `timeoutMs`. */
export function runTests(
  root: string,
  tests: readonly string[],
  timeoutMs: number,
  title?: string,
): Promise<Verdict> {
  const jest = ['--experimental-vm-modules', '--no-warnings', 'node_modules/jest/bin/jest.js']
  const only = title === undefined ? [] : [`--testNamePattern=${title}`]
  const child = spawn(process.execPath, [...jest, '--maxWorkers=1', '--bail', ...only, ...tests], {
    cwd: root,
    // Three times as many as in `npm test`, because a fault may need more to show. Other tests keep the short limits of
    // the fast tier.
    env: {
      ...process.env,
      ...(tests.some((path) => path.includes('simulation')) && { SIMULATION_SEEDS: '300' }),
    },
    stdio: 'ignore',
    detached: true,
  })
  const kill = () => {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL')
  }
  process.once('exit', kill)
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      resolve('timed out')
      kill()
    }, timeoutMs)
    child.once('error', reject)
    child.once('exit', (code) => {
      clearTimeout(timer)
      process.off('exit', kill)
      resolve(code === 0 ? 'survived' : 'caught')
    })
  })
}
