import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const Package = z.object({ packageManager: z.string() })

/**
 * Returns the folder of a commit, built and bundled: takes some minutes the first time, then it is kept in the
 * user's cache.
 */
export function earlierVersion(commit: string): string {
  const hash = execFileSync('git', ['rev-parse', `${commit}^{commit}`], {
    cwd: root,
    encoding: 'utf8',
  }).trim()
  const folder = join(homedir(), '.cache', 'opsplane-versions', hash)
  const done = join(folder, '.built')
  if (existsSync(done)) return folder
  const run = (command: string, ...args: string[]) =>
    execFileSync(command, args, { cwd: folder, stdio: ['ignore', 'inherit', 'inherit'] })
  mkdirSync(dirname(folder), { recursive: true })
  if (!existsSync(folder))
    execFileSync('git', ['clone', '--quiet', '--shared', '--no-checkout', root, folder])
  run('git', 'checkout', '--quiet', hash)
  const { packageManager } = Package.parse(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')))
  run('npx', '--yes', packageManager, 'install', '--frozen-lockfile')
  // Versions before this file existed were compiled by the type check.
  const compiler = 'deploy/bundler/compile.mjs'
  if (existsSync(join(folder, compiler))) run(process.execPath, compiler)
  else run('node_modules/.bin/tsc', '-b')
  run(process.execPath, 'deploy/bundler/dist/main.js')
  writeFileSync(done, '')
  return folder
}

/**
 * Whether replicas of this version end without a failed request (ADR 095); with earlier ones some requests must be
 * retried.
 */
export const drainsReplicas = (version: string): boolean =>
  readFileSync(join(version, 'libs/runtime/src/config.ts'), 'utf8').includes('drainDelayMs')
