import type { BackendName, OpsTask } from '@opsplane/local/ops'
import type { Command } from 'commander'
import { type GlobalOptions, globalOptions, printerFor } from '../connect.js'
import { resolveHome } from '../credentials.js'
import { CliError, usageError } from '../failure.js'
import type { Io } from '../io.js'

export type Ops = typeof import('@opsplane/local/ops')

const exitCodeOf = { unnamed: 2, refused: 1, away: 3 } as const

/**
 * Runs work directly on the servers. Loads the services' code only when needed, because loading it takes longer than most
 * commands.
 */
export async function withOps(work: (ops: Ops) => Promise<void>): Promise<void> {
  const ops = await import('@opsplane/local/ops')
  try {
    await work(ops)
  } catch (error) {
    if (!(error instanceof ops.OpsError)) throw error
    throw new CliError(error.message.replaceAll('\n', ' '), exitCodeOf[error.reason], { cause: error })
  }
}

export interface OperationOptions extends GlobalOptions {
  service?: string
  databaseUrl?: string
  natsUrl?: string
  natsPrefix?: string
  url?: string
}

export const serversHelp = `The platform is found in <home>/local.json, unless options or environment name its servers. It needs no login.
Progress goes to standard error.`

/** Runs work directly on the servers of the selected services. */
export async function withTask(
  io: Io,
  command: Command,
  options: OperationOptions,
  work: (ops: Ops, task: OpsTask) => Promise<void>,
): Promise<void> {
  await withOps(async (ops) => {
    const home = resolveHome(globalOptions(command).home, io.env)
    const services = options.service === undefined ? ops.backendNames : [parseBackend(ops, options.service)]
    const { say } = printerFor(io, command)
    await work(ops, { target: ops.findTarget({ ...options, home }, io.env), services, say })
  })
}

export function parseBackend({ backendNames }: Ops, name: string): BackendName {
  const found = backendNames.find((backend) => backend === name)
  if (found) return found
  throw usageError(`There is no service ${name}. Allowed choices are ${backendNames.join(', ')}.`)
}
