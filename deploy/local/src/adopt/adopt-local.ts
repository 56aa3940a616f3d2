import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { natsNames } from '@opsplane/contracts'
import { stringMap } from '@opsplane/runtime'
import { withOwnServers } from '../backup/local-servers.js'
import { OpsError, type Target } from '../ops-target.js'
import { openState } from '../state.js'
import { type Adopted, type AdoptTask, adopt } from './adopt.js'

type Options = Pick<AdoptTask, 'moved' | 'say'> & {
  /** Takes over streams that are marked as belonging to another installation. */
  replaceStreams: boolean
}

/**
 * Runs `adopt` for the local run of a folder, which must be stopped; its servers are started for the task. Throws
 * OpsError.
 */
export const adoptOwn = (home: string, { replaceStreams, ...options }: Options): Promise<Adopted> =>
  withOwnServers(home, ({ postgresUrl, natsUrl }) =>
    adopt({
      ...options,
      ...keptIn(home),
      adminUrl: postgresUrl,
      nats: { url: natsUrl, names: natsNames(), replace: replaceStreams },
    }),
  )

/**
 * Runs `adopt` for the given servers. DATABASE_PASSWORDS contains the services' database passwords and
 * INSTALLATION_ID their installation id, as for `opsplane migrate`; without DATABASE_PASSWORDS both come from the
 * local run of the folder. Throws OpsError.
 */
export function adoptNamed(
  target: Target,
  home: string,
  env: Record<string, string | undefined>,
  { replaceStreams, ...options }: Options,
): Promise<Adopted> {
  const nats = natsOf(target)
  return adopt({
    ...options,
    ...(env.DATABASE_PASSWORDS
      ? {
          passwords: stringMap.parse(env.DATABASE_PASSWORDS),
          installationId: env.INSTALLATION_ID || undefined,
        }
      : keptIn(home)),
    adminUrl: target.databaseUrl(),
    ...(nats && { nats: { ...nats, replace: replaceStreams } }),
  })
}

/** `undefined` if no NATS server is named; no streams are marked then. */
function natsOf(target: Target) {
  try {
    return target.nats()
  } catch (error) {
    if (error instanceof OpsError && error.reason === 'unnamed') return undefined
    throw error
  }
}

function keptIn(home: string): Pick<AdoptTask, 'passwords' | 'installationId' | 'keep'> {
  if (!existsSync(join(home, 'secrets.json')))
    throw new OpsError(
      'unnamed',
      `The passwords of the services are neither in DATABASE_PASSWORDS nor in ${join(home, 'secrets.json')}.`,
    )
  const state = openState(home)
  const { databasePasswords, installation } = state.secrets()
  return {
    passwords: databasePasswords,
    installationId: installation.id,
    keep: (adopted) => state.saveSecrets({ ...state.secrets(), installation: adopted }),
  }
}
