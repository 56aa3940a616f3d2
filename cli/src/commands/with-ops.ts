import { CliError } from '../failure.js'

export type Ops = typeof import('@opsplane/local/ops')

const exitCodeOf = { unnamed: 2, refused: 1, away: 3 } as const

/**
 * Work on the servers themselves. Reads the services' code only when it is needed: most commands are over before that
 * would be done.
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
