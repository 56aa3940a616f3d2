import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { natsNames } from '@opsplane/contracts'
import { startEmbeddedNats } from '@opsplane/nats/embedded'
import { startEmbeddedPostgres } from '@opsplane/postgres/embedded'
import { createLogger, createReleasers } from '@opsplane/runtime'
import { buildNatsUrls, natsAuthorization } from '../nats-users.js'
import { explainDatabaseError, OpsError, type Target } from '../ops-target.js'
import { provisionAll } from '../platform.js'
import { type LocalState, openState } from '../state.js'

/** The servers of a local run, without its services. */
export interface OwnServers {
  state: LocalState
  postgresUrl: string
  /** NATS URL with the operator's login. */
  natsUrl: string
}

/** Starts the servers of a local run without its services, and stops them after `work`. Throws OpsError. */
export async function withOwnServers<T>(home: string, work: (servers: OwnServers) => Promise<T>): Promise<T> {
  if (!existsSync(join(home, 'secrets.json')))
    throw new OpsError(
      'unnamed',
      `${home} has no secrets.json: put that of the old installation there, or name servers with --database-url and --nats-url.`,
    )
  const state = openState(home)
  const running = state.running()
  if (running)
    throw new OpsError('refused', `Opsplane runs from ${home} (process ${running.pid}): stop it first.`)
  const releasers = createReleasers(createLogger({ service: 'ops', level: 'silent' }))
  try {
    mkdirSync(state.postgresDir, { recursive: true })
    const postgres = await startEmbeddedPostgres({ dataDir: state.postgresDir })
    releasers.add('postgres', () => postgres.stop())
    const authorization = () => natsAuthorization(state.secrets())
    const nats = await startEmbeddedNats({ storeDir: state.natsDir, authorization })
    releasers.add('nats', () => nats.stop())
    const { natsUrl } = buildNatsUrls(nats.url, state.secrets().natsPasswords)
    return await work({ state, postgresUrl: postgres.url, natsUrl })
  } finally {
    await releasers.release()
  }
}

/**
 * Same, with migrated databases. The folder must contain the secrets.json of the installation, because encrypted
 * values need its master key. Throws OpsError.
 */
export const withLocalServers = <T>(home: string, work: (target: Target) => Promise<T>): Promise<T> =>
  withOwnServers(home, async ({ state, postgresUrl, natsUrl }) => {
    const { databasePasswords, installation } = state.secrets()
    await provisionAll(postgresUrl, databasePasswords, installation).catch((error: unknown) => {
      throw explainDatabaseError(error, postgresUrl)
    })
    return work({
      databaseUrl: () => postgresUrl,
      origin: undefined,
      nats: () => ({ url: natsUrl, names: natsNames() }),
      signatures: () => {
        throw new Error('nothing is signed while a backup is restored')
      },
    })
  })
