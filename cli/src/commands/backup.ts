import { type Command, InvalidArgumentError, Option } from 'commander'
import { globalOptions, printerFor } from '../connect.js'
import { resolveHome } from '../credentials.js'
import type { Io } from '../io.js'
import { type KeyOptions, readKeys, requireKeys } from './keys.js'
import { type OperationOptions, type Ops, serversHelp, withOps, withTask } from './with-ops.js'

/** Backup and restore of all data. Works directly on the servers, not through the API. */
export function addBackupCommands(program: Command, io: Io): void {
  const backup = withServers(
    program.command('backup').description('copy all databases, topics and files as of one instant'),
  )
    .option('--to <folder>', 'a new folder, that appears once the backup is whole')
    .addOption(
      new Option('--into <folder>', 'a folder of backups, where this one is named by the time').conflicts(
        'to',
      ),
    )
    .option('--keep <n>', 'with --into: how many stay there once this one is whole', count)
    .addHelpText('after', `\n${backupHelp}`)
    .action(async (options: BackupOptions, command: Command) => {
      const { to, into, keep } = options
      if (to === undefined && into === undefined)
        command.error("error: one of the options '--to <folder>' and '--into <folder>' is required")
      if (keep !== undefined && into === undefined)
        command.error("error: option '--keep <n>' is for '--into <folder>'")
      await withTask(io, command, options, async (ops, { target, say }) => {
        const folder = into === undefined ? String(to) : await ops.nextBackup(into, new Date())
        const saved = await ops.backup({ target, to: folder, ...(say && { say }) })
        const removed = into === undefined || keep === undefined ? [] : await ops.keepNewest(into, keep)
        const result = { ...saved, folder, removed }
        printerFor(io, command).one(result, fieldsOfBackup(result))
      })
    })
  backup
    .command('verify')
    .argument('<folder>')
    .description('read every file of a backup and compare it with its checksum; needs no server and no key')
    .action((folder: string, _options: object, command: Command) =>
      withOps(async (ops) => {
        const manifest = await ops.readManifest(folder)
        const verified = await ops.verifyFiles(folder, manifest)
        const result = { at: manifest.at, ...verified, masterKeys: manifest.masterKeys }
        printerFor(io, command).one(result, [
          ['as of', result.at],
          ['files', result.files],
          ['bytes', result.bytes],
          ['master keys', result.masterKeys.join(', ') || null],
        ])
      }),
    )
  addRestore(program, io)
}

interface BackupOptions extends OperationOptions {
  to?: string
  into?: string
  keep?: number
}

interface RestoreOptions extends OperationOptions, KeyOptions {
  from?: string
  force?: true
  streamReplicas?: number
}

function addRestore(program: Command, io: Io): void {
  const restore = withServers(
    program.command('restore').description('bring an empty installation to what a backup has, and prove it'),
  )
    .option('--from <folder>', 'the backup')
    .option('--keys-stdin', 'read the master keys from standard input, one a line, the present one first')
    .option('--stream-replicas <n>', 'copies of each stream, where there are other NATS servers', replicas)
    .option('--force', 'replace what the installation has')
    .addHelpText('after', `\n${restoreHelp}`)
    .action(async (options: RestoreOptions, command: Command) => {
      const { from } = options
      if (from === undefined) command.error("error: required option '--from <folder>' not specified")
      await withOps((ops) => restoreFrom(ops, io, command, { ...options, from: String(from) }))
    })
  withServers(
    restore
      .command('check')
      .description(
        'prove of a running installation that nothing is missing: streams, audit log, read models',
      ),
  )
    .addHelpText('after', `\n${checkHelp}`)
    .action((_options: OperationOptions, command: Command) =>
      withTask(io, command, command.optsWithGlobals<OperationOptions>(), async (ops, task) =>
        printerFor(io, command).list(await ops.proveRunning(task), [
          { title: 'service', value: ({ service }) => service },
          { title: 'events', value: ({ events }) => events },
          { title: 'last position', value: ({ lastPosition }) => lastPosition },
          { title: 'in the stream', value: ({ inStream }) => inStream },
          { title: 'waiting', value: ({ waiting }) => waiting },
        ]),
      ),
    )
  withServers(
    restore
      .command('streams')
      .description('after Postgres was recovered to an earlier time: rebuild the stream of events'),
  )
    .addHelpText('after', `\n${streamsHelp}`)
    .action((_options: OperationOptions, command: Command) =>
      withTask(io, command, command.optsWithGlobals<OperationOptions>(), async (ops, { target }) =>
        printerFor(io, command).list(await ops.realignStreams({ target }), [
          { title: 'service', value: ({ service }) => service },
          { title: 'log ends at', value: ({ lastPosition }) => lastPosition },
          { title: 'stream ended at', value: ({ streamed }) => streamed },
        ]),
      ),
    )
}

async function restoreFrom(ops: Ops, io: Io, command: Command, options: RestoreOptions & { from: string }) {
  const printer = printerFor(io, command)
  const { from, force, streamReplicas } = options
  const task = {
    ...{ from, force: force ?? false, say: printer.say },
    ...(streamReplicas !== undefined && { replicas: streamReplicas }),
  }
  const home = resolveHome(globalOptions(command).home, io.env)
  const isNamed = options.databaseUrl !== undefined || Boolean(io.env.DATABASE_URL)
  const result = isNamed
    ? await ops.restore({
        ...task,
        target: ops.findTarget({ ...options, home }, io.env),
        keys: requireKeys(await readKeys(ops, io, options)),
      })
    : await ops.withLocalServers(home, (target) =>
        ops.restore({ ...task, target, keys: requireKeys(ops.readMasterKeys(home)) }),
      )
  printer.one(result, [
    ['as of', result.at],
    ['seconds', result.seconds],
    ['bytes', result.bytes],
    ['rows', result.rows],
    ...result.services.map(({ service, events, lastPosition }): [string, string] => [
      service,
      `${events} events up to position ${lastPosition}`,
    ]),
  ])
}

const withServers = (command: Command) =>
  command
    .option('--database-url <url>', 'Postgres, as a superuser, without a pooler between (DATABASE_URL)')
    .option('--nats-url <url>', 'NATS server, as the operator (NATS_URL)')
    .option('--nats-prefix <prefix>', 'prefix of the installation (NATS_PREFIX)')

function replicas(text: string): number {
  if (/^[135]$/.test(text)) return Number(text)
  throw new InvalidArgumentError('a stream has 1, 3 or 5 replicas')
}

function count(text: string): number {
  if (/^[1-9]\d{0,3}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('a whole number from 1 to 9999')
}

type Backup = Awaited<ReturnType<Ops['backup']>> & { folder: string; removed: string[] }

const fieldsOfBackup = ({
  at,
  seconds,
  pausedMs,
  events,
  rows,
  plainBytes,
  bytes,
  folder,
  removed,
}: Backup): [string, string | number][] => [
  ['folder', folder],
  ['as of', at],
  ['seconds', seconds],
  ['appends paused', `${pausedMs} ms`],
  ['events', events],
  ['rows', rows],
  ['bytes of rows', plainBytes],
  ['bytes of files', bytes],
  ...(removed.length > 0 ? [['removed', removed.join(', ')] as [string, string]] : []),
]

const backupHelp = `While everything runs. Appends wait for the moment in which all databases are taken as of one instant. The backup has
what tenants keep as plain text, and what is sealed as it is sealed: keep it as you keep the database, and apart from the
master key, which is never in it. Streams in memory and files in S3 are not part of it.

${serversHelp}

Examples:
  $ opsplane backup --to /backups/2026-11-23
  $ opsplane backup --into /backups --keep 14
  $ opsplane backup verify /backups/2026-11-23`

const restoreHelp = `The services are stopped, the databases migrated by the version of Opsplane that made the backup (opsplane migrate), and
empty. The master keys come from OPSPLANE_MASTER_KEY and OPSPLANE_PREVIOUS_MASTER_KEYS or by --keys-stdin; a wrong one changes
nothing. Without --database-url it is about the local run of --home, which has the secrets.json of the old one. What is
refused or fails leaves all databases as they were. Afterwards start the services: they fill the stream of events from
their logs. Then: opsplane restore check.

Examples:
  $ opsplane restore --from /backups/2026-11-23 --database-url postgres://… --nats-url nats://…
  $ opsplane restore --from /backups/2026-11-23 --home .opsplane`

const checkHelp = `Compares the logs with the stream of events, recomputes the audit log's chain, and folds every read model again next to the
running services. Exit code 1 says what is missing; an event that waits for the stream is not missing.`

const streamsHelp = `The services are stopped. The stream of events, which has events that the recovered logs do not, is dropped; the services fill a new
one from their logs. No position of an event that is lost is given to another one. Topics and files stay as they are.`
