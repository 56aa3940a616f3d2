import { connectNats, openStreamManager, UnsupportedServerError } from '@opsplane/nats'
import { openClient } from '@opsplane/postgres'
import { createLogger } from '@opsplane/runtime'
import { LocalRunError } from '../ports.js'

/** The oldest supported Postgres version. */
const oldestPostgres = 15
const natsWaitMs = 10_000

/**
 * Throws LocalRunError if the Postgres of DATABASE_URL is too old or the URL is invalid; rejects with the Postgres
 * error otherwise.
 */
export async function requirePostgres(url: string, oldest = oldestPostgres): Promise<void> {
  requireUrl('DATABASE_URL', url, /^postgres(ql)?:$/, 'postgres://user:password@host:5432/name')
  const sql = openClient(url, { schema: 'public', max: 1 })
  try {
    const [row] = await sql<{ number: number; name: string }[]>`
      select current_setting('server_version_num')::int as number, current_setting('server_version') as name`
    if (row && row.number < oldest * 10_000)
      throw new LocalRunError(
        `Postgres at ${new URL(url).host} is ${row.name}, and Opsplane needs ${oldest} or newer. Upgrade it, or name another one ` +
          'in DATABASE_URL. Without DATABASE_URL the local run has a Postgres of its own.',
      )
  } finally {
    await sql.end({ timeout: 5 })
  }
}

/**
 * Throws LocalRunError if the NATS of NATS_URL does not answer in time, is too old, rejects the login, or has no
 * JetStream.
 */
export async function requireNats(url: string, waitMs = natsWaitMs): Promise<void> {
  for (const each of url.split(','))
    requireUrl('NATS_URL', each.trim(), /^(nats|tls):$/, 'nats://user:password@host:4222')
  const { host } = new URL(url.split(',')[0] ?? '')
  const log = createLogger({ service: 'start', level: 'silent' })
  const link = connectNats({ url, name: 'opsplane-start', log })
  try {
    const connection = await link.ready(AbortSignal.timeout(waitMs)).catch(() => undefined)
    const failure = link.failure()
    if (failure instanceof UnsupportedServerError) throw new LocalRunError(failure.message)
    if (!connection)
      throw new LocalRunError(
        `NATS at ${host} does not answer, or refuses the login. Check that it runs and that NATS_URL is right. ` +
          'Without NATS_URL the local run has a NATS of its own.',
      )
    await openStreamManager(connection).catch((error: unknown) => {
      throw new LocalRunError(
        `NATS at ${host} has no JetStream for this user (${String(error)}). Start it with JetStream: nats-server -js.`,
      )
    })
  } finally {
    await link.close()
  }
}

function requireUrl(variable: string, text: string, protocols: RegExp, example: string): void {
  if (URL.canParse(text) && protocols.test(new URL(text).protocol)) return
  throw new LocalRunError(`${variable} is no URL such as ${example}.`)
}
