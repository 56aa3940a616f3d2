import { readFile } from 'node:fs/promises'
import { AuditCheckpoint, AuditVerification } from '@opsplane/contracts'
import type { Command } from 'commander'
import type { Api } from '../api.js'
import { connect } from '../connect.js'
import { CliError, usageError } from '../failure.js'
import type { Io } from '../io.js'

/** How long one verification takes at most before it hands on to the next. */
const verificationMs = 10_000

export function addAuditCommands(program: Command, io: Io): void {
  const audit = program.command('audit').description('see that the audit log is whole')

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
      if (problem) throw new CliError(`The audit log is not whole: ${problem.kind} at ${problem.seq}.`, 1)
    })

  audit
    .command('checkpoint')
    .description('sign the end of the chain, to be kept outside')
    .addHelpText('after', '\nExamples:\n  $ opsplane audit checkpoint --json > kept.json')
    .action(async (_options: object, command: Command) => {
      const { api, printer } = connect(io, command)
      const taken = await api.one(AuditCheckpoint, { method: 'POST', path: '/audit/checkpoints' })
      printer.one(taken, Object.entries(taken))
    })
}

/** Part after part, as each has a limited time. */
async function verifyAll(api: Api, checkpoint: AuditCheckpoint | undefined, say: (line: string) => void) {
  const request = checkpoint ? { method: 'POST' as const, body: { checkpoint } } : {}
  let checked = 0
  for (let after: string | undefined; ; ) {
    const call = { ...request, path: '/audit/verify', query: { after }, extraTimeMs: verificationMs }
    const result = await api.one(AuditVerification, call)
    checked += result.checked
    if (result.nextCursor === null) return { checked, result }
    say(`${checked} events are in order so far.`)
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
