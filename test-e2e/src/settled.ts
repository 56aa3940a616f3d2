import { backendNames } from '@opsplane/contracts'
import { type Cluster, databaseIn } from '@opsplane/local'
import { openAsOwner, type SettledOptions, settledServices } from '@opsplane/testing'

/**
 * Resolves once every event in the logs of the platform, and every event that handling them wrote, is published and handled by all
 * consumers of all services, and nothing is due. On a shared platform `workspaceId` leaves out what others do.
 */
export async function settled(
  { info, secrets }: Pick<Cluster, 'info' | 'secrets'>,
  options?: SettledOptions,
): Promise<void> {
  const services = backendNames.map((name) => ({
    name,
    sql: openAsOwner(databaseIn(secrets.installation, name, info.postgresUrl), name.replaceAll('-', '_')),
  }))
  try {
    await settledServices(services, { natsUrl: info.natsUrl, natsPrefix: '', ...options })
  } finally {
    await Promise.all(services.map(({ sql }) => sql.end({ timeout: 1 })))
  }
}
