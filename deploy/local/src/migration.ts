import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'
import { type BackendName, backendNames } from '@opsplane/contracts'
import { Argument, Command } from 'commander'
import { publishMigrations } from './migrations/published.js'

interface MigrationOptions {
  name?: string
  check?: boolean
  publish?: boolean
}

/** Time limit for a tool that may ask a question without a terminal to answer it. */
const timeoutMs = 300_000

/** Arguments that make drizzle-kit compare a service's compiled schema with the migrations in `folder`. */
function generate(service: BackendName, folder: string, name?: string): { cwd: string; args: string[] } {
  const cwd = resolve('services', service)
  // drizzle-kit resolves the folder relative to its working directory, so an absolute path would not be found.
  const out = relative(cwd, folder)
  const args = ['generate', '--dialect=postgresql', '--schema=./dist/schema.js', `--out=${out}`]
  return { cwd, args: name === undefined ? args : [...args, `--name=${name}`] }
}

const drizzleKit = resolve('node_modules/.bin/drizzle-kit')

/** Runs in the user's terminal, because the tool asks whether something was renamed or is new. */
function write(service: BackendName, name?: string): boolean {
  const { cwd, args } = generate(service, resolve('services', service, 'migrations'), name)
  return spawnSync(drizzleKit, args, { cwd, stdio: 'inherit' }).status === 0
}

/**
 * Runs on a copy and checks whether a migration would be written; the tool's exit code reports neither that nor a
 * failure.
 */
function isComplete(service: BackendName): boolean {
  const copy = mkdtempSync(join(tmpdir(), 'opsplane-migrations-'))
  try {
    cpSync(resolve('services', service, 'migrations'), copy, { recursive: true })
    const { cwd, args } = generate(service, copy)
    const run = spawnSync(drizzleKit, args, {
      cwd,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: timeoutMs,
    })
    if (run.stdout.includes('No schema changes')) return true
    console.error(
      `${service}: the schema has changes without a migration. Write it with: npm run migration -- ${service}\n` +
        `${run.stdout}${run.stderr}`,
    )
    return false
  } finally {
    rmSync(copy, { recursive: true, force: true })
  }
}

const program = new Command('npm run migration --')
  .description('Write the migration for what changed in the schema of a service.')
  .addArgument(new Argument('[service]').choices(backendNames))
  .option('--name <name>', 'name of the migration')
  .option('--check', 'write nothing; fail when a migration is missing')
  .option('--publish', 'write nothing; with a release: none of those there are may change from now on')
  .action((service: BackendName | undefined, { name, check, publish }: MigrationOptions) => {
    if (publish) return publishMigrations(process.cwd())
    if (!check && !service) return program.help({ error: true })
    const services = service ? [service] : backendNames
    const done = services.map((each) => (check ? isComplete(each) : write(each, name)))
    if (check && !done.includes(false)) console.log(`the migrations of ${services.join(', ')} are complete`)
    process.exitCode = done.includes(false) ? 1 : 0
  })
program.parse()
