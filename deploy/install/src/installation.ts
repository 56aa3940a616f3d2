import { type BackendName, backendNames, type ServiceName, serviceNames } from '@opsplane/contracts'
import { buildNatsUrls, databaseIn, type Environment, type LocalSecrets, mapNames } from '@opsplane/local'
import { formatRole, urlAs } from '@opsplane/postgres'

/** URLs of an installation's servers. */
export interface Servers {
  /** URL by which services reach Postgres; user and password are replaced by those of each service. */
  postgresUrl: string
  /** The same without a pooler, for services that cannot use one; defaults to `postgresUrl`. */
  directPostgresUrl?: string
  /** NATS URL without a user. */
  natsUrl: string
}

/** Services that encrypt values with the operator's master key. */
const sealing: readonly ServiceName[] = ['settings', 'dispatcher', 'sdk']

/** Services whose sessions are logins of tenants, so they cannot use a transaction pooler. */
const unpooled: readonly ServiceName[] = ['database-studio']

/** The secrets of each service's environment, and the public keys it needs. */
export function secretEnvironments(
  secrets: LocalSecrets,
  { postgresUrl, directPostgresUrl = postgresUrl, natsUrl }: Servers,
): Record<ServiceName, Environment> {
  const { natsUrls } = buildNatsUrls(natsUrl, secrets.natsPasswords)
  const publicKeys = Object.entries(secrets.serviceKeys).map(([party, pair]) => [party, pair.publicKey])
  const trusted = JSON.stringify(Object.fromEntries(publicKeys))
  return mapNames(serviceNames, (name) => ({
    NATS_URL: natsUrls[name],
    INSTALLATION_ID: secrets.installation.id,
    SERVICE_PRIVATE_KEY: secrets.serviceKeys[name].privateKey,
    TRUSTED_SERVICE_KEYS: trusted,
    ...(isBackend(name) && {
      DATABASE_URL: databaseUrlOf(name, unpooled.includes(name) ? directPostgresUrl : postgresUrl, secrets),
      CURSOR_SECRET: secrets.cursorSecret,
    }),
    ...(sealing.includes(name) && { OPSPLANE_MASTER_KEY: secrets.masterKey }),
    ...(name === 'settings' && { AUDIT_SIGNING_KEY: secrets.auditSigningKey }),
  }))
}

/** The environment of `opsplane migrate`. */
export const migrationEnvironment = (secrets: LocalSecrets, adminUrl: string): Record<string, string> => ({
  DATABASE_URL: adminUrl,
  INSTALLATION_ID: secrets.installation.id,
  DATABASE_PASSWORDS: JSON.stringify(mapNames(backendNames, (name) => secrets.databasePasswords[name] ?? '')),
})

const isBackend = (name: ServiceName): name is BackendName => backendNames.some((other) => other === name)

function databaseUrlOf(
  name: BackendName,
  postgresUrl: string,
  { databasePasswords, installation }: LocalSecrets,
): string {
  const role = formatRole(installation, name.replaceAll('-', '_'))
  return urlAs(databaseIn(installation, name, postgresUrl), role, databasePasswords[name] ?? '')
}
