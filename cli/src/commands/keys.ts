import type { MasterKeys } from '@opsplane/local/ops'
import { type Command, Option } from 'commander'
import { globalOptions, printerFor } from '../connect.js'
import { resolveHome } from '../credentials.js'
import { CliError, usageError } from '../failure.js'
import type { Io } from '../io.js'
import { type Ops, withOps } from './with-ops.js'

export interface KeyOptions {
  databaseUrl?: string
  keysStdin?: true
}

interface RotateMasterKeyOptions extends KeyOptions {
  dryRun?: true
  check?: true
}

/** Rotation of the keys that encrypt secrets. Works directly on Postgres, not through the API. */
export function addKeyCommands(program: Command, io: Io): void {
  keyCommand(program, 'rotate-master-key', 'wrap every data key by a new master key', masterKeyHelp)
    .addOption(new Option('--dry-run', 'try every data key, and change none').conflicts('check'))
    .addOption(new Option('--check', 'count the data keys by the master key that wraps them'))
    .action(async (options: RotateMasterKeyOptions, command: Command) =>
      withOps(async (ops) => {
        const place = await placeOf(ops, io, command, options)
        if (options.check) return check(ops, io, command, place)
        if (place.home !== undefined) return prepare(ops, io, command, place.home, options.dryRun ?? false)
        const { databaseUrl, keys } = place
        const { say } = printerFor(io, command)
        const task = {
          databaseUrl: databaseUrl(),
          keys: requireKeys(keys),
          dryRun: options.dryRun ?? false,
          say,
        }
        printerFor(io, command).list(await ops.rewrapAllDataKeys(task), [
          { title: 'service', value: (row) => row.service },
          { title: 'master key', value: (row) => row.keyId },
          { title: 'data keys', value: (row) => row.dataKeys },
          { title: 'outdated', value: (row) => row.outdated },
          { title: 'rewrapped', value: (row) => row.rewrapped },
        ])
      }),
    )

  keyCommand(program, 'rotate-data-key', 'give a workspace a new data key', dataKeyHelp)
    .requiredOption('--workspace <id>', 'the workspace, ws_…')
    .action(async (options: KeyOptions & { workspace: string }, command: Command) =>
      withOps(async (ops) => {
        const { databaseUrl, keys, home } = await placeOf(ops, io, command, options)
        if (home !== undefined && requireKeys(keys).previous.length > 0)
          throw new CliError(
            'A new master key waits for the next start of the platform: restart it first.',
            1,
          )
        const task = { databaseUrl: databaseUrl(), keys: requireKeys(keys), workspaceId: options.workspace }
        printerFor(io, command).list(await ops.rotateDataKey(task), [
          { title: 'service', value: (row) => row.service },
          { title: 'generation', value: (row) => row.generation },
        ])
      }),
    )
}

const keyCommand = (program: Command, name: string, description: string, help: string) =>
  program
    .command(name)
    .description(description)
    .option('--database-url <url>', 'Postgres, as the owner of the tables (DATABASE_URL)')
    .option('--keys-stdin', 'read the master keys from standard input, one a line, the present one first')
    .addHelpText('after', `\n${help}`)

const keySource = `The master keys come from OPSPLANE_MASTER_KEY and OPSPLANE_PREVIOUS_MASTER_KEYS, as the services have them, or by
--keys-stdin; never as an argument. Without --database-url (DATABASE_URL) it is about the platform started here.`

const masterKeyHelp = `${keySource}

While the services run: 1. start them with the new key in OPSPLANE_MASTER_KEY and the old one in
OPSPLANE_PREVIOUS_MASTER_KEYS; 2. run this with the same two; 3. once --check ends with 0, start them without the old
one. Stopped at any point, everything stays readable, and running it again goes on. A wrong key changes nothing.

The platform started here (npm start) gets a new key next to its present one, and wraps the data keys at its next start.

Examples:
  $ opsplane rotate-master-key --database-url postgres://… --dry-run
  $ opsplane rotate-master-key --check --json`

const dataKeyHelp = `${keySource}

What is sealed from then on is sealed with the new key; everything sealed before stays readable. A secret is sealed
with the new key when it gets a new value.

Examples:
  $ opsplane rotate-data-key --workspace ws_…`

interface Place {
  databaseUrl(): string
  keys: MasterKeys | undefined
  /** Home folder of the platform started here; absent for any other database. */
  home?: string
}

/** The keys belong to the database: keys in the shell do not apply to the platform started here. */
async function placeOf(ops: Ops, io: Io, command: Command, options: KeyOptions): Promise<Place> {
  const home = resolveHome(globalOptions(command).home, io.env)
  const { databaseUrl } = ops.findTarget({ ...options, home }, io.env)
  if (options.databaseUrl !== undefined || io.env.DATABASE_URL) {
    return { databaseUrl, keys: await readKeys(ops, io, options) }
  }
  const keys = ops.readMasterKeys(home)
  // Throws an error that names the missing setting.
  if (!keys) databaseUrl()
  if (options.keysStdin) throw usageError('The keys of the platform started here are in its secrets.json.')
  return { databaseUrl, keys, home }
}

/** Reads the keys from standard input with `--keys-stdin`, otherwise from the environment; `undefined` if there are none. */
export async function readKeys(ops: Ops, io: Io, { keysStdin }: KeyOptions): Promise<MasterKeys | undefined> {
  return keysStdin ? keysOf(ops, await io.readInput()) : keysFrom(ops, io.env)
}

function keysFrom(ops: Ops, env: Io['env']): MasterKeys | undefined {
  if (!env.OPSPLANE_MASTER_KEY) return undefined
  const previous = ops.commaList(env.OPSPLANE_PREVIOUS_MASTER_KEYS ?? '')
  return { present: env.OPSPLANE_MASTER_KEY, previous }
}

function keysOf(ops: Ops, input: string): MasterKeys {
  const [present, ...previous] = ops.commaList(input.replaceAll(/\s+/g, ','))
  if (present === undefined) throw usageError('There is no key on standard input.')
  return { present, previous }
}

export function requireKeys(keys: MasterKeys | undefined): MasterKeys {
  if (keys) return keys
  throw usageError('Set OPSPLANE_MASTER_KEY and OPSPLANE_PREVIOUS_MASTER_KEYS, or use --keys-stdin.')
}

async function check(ops: Ops, io: Io, command: Command, { databaseUrl, keys }: Place): Promise<void> {
  const counts = await ops.masterKeysInUse({ databaseUrl: databaseUrl() })
  const ids = keys && ops.toKeyIds(keys)
  const useOf = (keyId: string) => {
    if (!ids) return null
    if (keyId === ids.keyId) return 'present'
    return ids.previousKeyIds.includes(keyId) ? 'previous' : 'not given'
  }
  const rows = counts.map((row) => ({ ...row, use: useOf(row.keyId) }))
  printerFor(io, command).list(rows, [
    { title: 'service', value: (row) => row.service },
    { title: 'master key', value: (row) => row.keyId },
    { title: 'data keys', value: (row) => row.count },
    { title: 'use', value: (row) => row.use ?? '-' },
  ])
  const left = rows.filter(({ use }) => use !== null && use !== 'present')
  const count = left.reduce((sum, row) => sum + row.count, 0)
  if (ids && count > 0)
    throw new CliError(`Data keys wrapped by a master key other than ${ids.keyId}: ${count}.`, 1)
}

function prepare(ops: Ops, io: Io, command: Command, home: string, dryRun: boolean): void {
  const printer = printerFor(io, command)
  const keys = dryRun ? ops.readMasterKeys(home) : ops.prepareMasterKey(home)
  const { keyId, previousKeyIds } = ops.toKeyIds(requireKeys(keys))
  printer.one({ keyId, previousKeyIds }, [
    ['master key', keyId],
    ['previous', previousKeyIds.join(', ') || null],
  ])
  printer.say(dryRun ? wouldPrepare : prepared)
}

const wouldPrepare =
  'Without --dry-run this platform gets a new master key, and wraps its data keys by it at its next start.'
const prepared =
  'The new master key waits in secrets.json, next to the one in use. Restart the platform (Ctrl-C, npm start): it wraps ' +
  'every data key with it before its services start, and then deletes the old master key.'
