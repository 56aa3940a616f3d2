import { readFile } from 'node:fs/promises'
import { AuditCheckpoint, AuditVerification } from '@opsplane/contracts'
import type { Command } from 'commander'
import type { Api, Call } from '../api.js'
import { copyExport, type Sink } from '../audit-export.js'
import { connect } from '../connect.js'
import { CliError, usageError } from '../failure.js'
import type { Io } from '../io.js'
import { instant } from '../options.js'
import { createOutputFile } from '../output-file.js'

/** Maximum duration of one verification request, in milliseconds; the next request continues from there. */
const verificationMs = 10_000

export function addAuditCommands(program: Command, io: Io): void {
  const audit = program.command('audit').description('see that the audit log is whole, and take a copy of it')

  audit
    .command('verify')
    .description('verify the hash chain of the workspace; exit code 1 when something is wrong')
    .option('--checkpoint <file>', 'also against a checkpoint kept outside, as `audit checkpoint` prints it')
    .addHelpText('after', '\nExamples:\n  $ opsplane audit verify --checkpoint kept.json')
    .action(async (options: { checkpoint?: string }, command: Command) => {
      const { api, printer } = connect(io, command)
      const checkpoint =
        options.checkpoint === undefined ? undefined : await readCheckpoint(options.checkpoint)
      const { checked, result } = await verifyAll(api, checkpoint, printer.say)
      const { head, problem } = result
      printer.one({ ...result, checked, firstSeq: checked > 0 ? 1 : null }, [
        ['valid', result.valid ? 'yes' : 'no'],
        ['checked', checked],
        ['head', head ? `${head.seq} ${head.hash}` : null],
        ['checkpoint', result.checkpoint?.seq ?? null],
        ['problem', problem ? `${problem.kind} at ${problem.seq}` : null],
        ['event', problem?.eventId ?? null],
      ])
      if (problem) throw new CliError(`The audit chain is broken: ${problem.kind} at ${problem.seq}.`, 1)
    })

  const time = instant(io.nowMs())
  audit
    .command('export')
    .description('copy the events of the environment, oldest first, as lines of JSON')
    .option('--output <file>', 'write there, and nothing unless the copy is whole; standard output otherwise')
    .option('--force', 'replace the file')
    .option('--type <pattern>', 'event type, prefix.* or *')
    .option('--actor <id>', 'id of who acted')
    .option('--resource-type <type>', 'such as incident')
    .option('--resource-id <id>', 'what it happened to')
    .option(
      '--from, --since <time>',
      'at this time or later: a time, or how long ago (15m, 2h, 7d ago)',
      time,
    )
    .option('--to, --until <time>', 'earlier', time)
    .addHelpText(
      'after',
      `
The last line is {"complete":true,"count":n}; the exit code is 0 only when it came. That an export was taken is an event
itself. Whether what is there is unchanged is reported by audit verify.

Examples:
  $ opsplane audit export --output audit-2026-01.ndjson --from 2026-01-01 --to 2026-02-01
  $ opsplane audit export --type 'incident.*' | gzip > incidents.ndjson.gz`,
    )
    .action((options: ExportOptions, command: Command) => exportLog(io, options, command))

  audit
    .command('checkpoint')
    .description('sign the end of the chain, to be kept outside')
    .addHelpText('after', '\nExamples:\n  $ opsplane audit checkpoint --json > kept.json')
    .action(async (_options: object, command: Command) => {
      const { api, printer } = connect(io, command)
      const checkpoint = await api.one(AuditCheckpoint, { method: 'POST', path: '/audit/checkpoints' })
      printer.one(checkpoint, Object.entries(checkpoint))
    })
}

interface ExportOptions {
  output?: string
  force?: true
  type?: string
  actor?: string
  resourceType?: string
  resourceId?: string
  since?: string
  until?: string
}

async function exportLog(io: Io, options: ExportOptions, command: Command): Promise<void> {
  const { output, force, type, actor, resourceType, resourceId, since: from, until: to } = options
  if (force && output === undefined) throw usageError('--force goes with --output.')
  const { api, printer } = connect(io, command)
  const query = { type, actor, resourceType, resourceId, from, to }
  // The file is created first: the export is recorded as an event even if the file cannot be written.
  const sink = output === undefined ? standardOutput(io) : await createOutputFile(output, { replace: force })
  // Standard output needs no clean-up on interruption, and its reader may be slow.
  const signal = output === undefined ? undefined : io.interruption()
  const count = await copied(api, { path: '/audit/export', query, signal }, sink, printer.say)
  if (output === undefined) return printer.say(`${count} events; the copy is whole.`)
  printer.one({ file: output, events: count }, [
    ['file', output],
    ['events', count],
  ])
}

async function copied(api: Api, call: Call, sink: Sink, report: (line: string) => void): Promise<number> {
  try {
    return await copyExport(await api.lines(call), sink, report)
  } catch (error) {
    await sink.discard()
    if (call.signal?.aborted) throw new CliError('Interrupted; nothing was saved.', 1, { cause: error })
    throw error
  }
}

const standardOutput = (io: Io): Sink => ({
  write: io.write,
  finish: async () => {},
  discard: async () => {},
})

/** Verifies one part after another, because each request has a limited duration. */
async function verifyAll(api: Api, checkpoint: AuditCheckpoint | undefined, report: (line: string) => void) {
  const request = checkpoint ? { method: 'POST' as const, body: { checkpoint } } : {}
  let checked = 0
  for (let after: string | undefined; ; ) {
    const call = { ...request, path: '/audit/verify', query: { after }, extraTimeMs: verificationMs }
    const result = await api.one(AuditVerification, call)
    checked += result.checked
    if (result.nextCursor === null) return { checked, result }
    report(`${checked} events are in order so far.`)
    after = result.nextCursor
  }
}

async function readCheckpoint(path: string): Promise<AuditCheckpoint> {
  try {
    return AuditCheckpoint.parse(JSON.parse(await readFile(path, 'utf8')))
  } catch {
    throw usageError(`${path} is not a file with a checkpoint.`)
  }
}
