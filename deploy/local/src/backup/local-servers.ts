import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { natsNames } from '@opsplane/contracts'
import { startEmbeddedNats } from '@opsplane/nats/embedded'
import { startEmbeddedPostgres } from '@opsplane/postgres/embedded'
import { createLogger, createReleasers } from '@opsplane/runtime'
import { natsAuthorization, natsUrlsOf } from '../nats-users.js'
import { OpsError, type Target } from '../ops-target.js'
import { provisionAll } from '../platform.js'
import { openState } from '../state.js'

/**
 * Starts the servers of a local run without its services, migrates them, and stops them after `work`. The folder has the
 * secrets.json of the installation, since whatever is sealed needs its master key. Throws OpsError.
 */
export async function withServersOf<T>(home: string, work: (target: Target) => Promise<T>): Promise<T> {
  if (!existsSync(join(home, 'secrets.json')))
    throw new OpsError(
      'unnamed',
      `${home} has no secrets.json: put that of the old installation there, or name servers with --database-url and --nats-url.`,
    )
  const state = openState(home)
  const running = state.running()
  if (running)
    throw new OpsError('refused', `Opsplane runs from ${home} (process ${running.pid}): stop it first.`)
  const releasers = createReleasers(createLogger({ service: 'restore', level: 'silent' }))
  try {
    const { databasePasswords, natsPasswords } = state.secrets()
    mkdirSync(state.postgresDir, { recursive: true })
    const postgres = await startEmbeddedPostgres({ dataDir: state.postgresDir })
    releasers.add('postgres', () => postgres.stop())
    const authorization = () => natsAuthorization(state.secrets())
    const nats = await startEmbeddedNats({ storeDir: state.natsDir, authorization })
    releasers.add('nats', () => nats.stop())
    await provisionAll(postgres.url, databasePasswords)
    const { natsUrl } = natsUrlsOf(nats.url, natsPasswords)
    return await work({
      databaseUrl: () => postgres.url,
      origin: undefined,
      nats: () => ({ url: natsUrl, names: natsNames() }),
      signatures: () => {
        throw new Error('nothing is signed while a backup is restored')
      },
    })
  } finally {
    await releasers.release()
  }
}
