import { serviceNames } from '@opsplane/contracts'
import { buildNatsUrls, completeSecrets, type Environment, natsAuthorization } from '@opsplane/local'
import { migrationEnvironment, secretEnvironments } from './installation.js'

export interface ManifestOptions {
  postgres: string
  servicesPostgres?: string
  nats: string
  ownerEmail: string
  prefix: string
}

interface Secret {
  apiVersion: 'v1'
  kind: 'Secret'
  type: 'Opaque' | 'kubernetes.io/basic-auth'
  metadata: { name: string }
  stringData: Environment
}

/**
 * New Secrets of an installation: one for each service with the values only that service may have, and those of
 * migrations, of the first owner, of the operator, of the Postgres superuser and of NATS.
 */
export function manifest({ postgres, servicesPostgres, nats, ownerEmail, prefix }: ManifestOptions) {
  const secrets = completeSecrets()
  const postgresUrl = servicesPostgres ?? postgres
  const isPooled = new URL(postgresUrl).searchParams.get('pooler') === 'transaction'
  const servers = { postgresUrl, directPostgresUrl: isPooled ? postgres : postgresUrl, natsUrl: nats }
  const services = secretEnvironments(secrets, servers)
  const secret = (name: string, stringData: Environment, type: Secret['type'] = 'Opaque'): Secret => ({
    ...{ apiVersion: 'v1', kind: 'Secret', type },
    ...{ metadata: { name: `${prefix}-${name}` }, stringData },
  })
  const { username, password } = new URL(postgres)
  return {
    apiVersion: 'v1',
    kind: 'List',
    items: [
      ...serviceNames.map((name) => secret(name, services[name])),
      secret('migrations', migrationEnvironment(secrets, postgres)),
      secret('bootstrap', {
        OPERATOR_PRIVATE_KEY: secrets.serviceKeys.operator.privateKey,
        OWNER_EMAIL: ownerEmail,
        OWNER_PASSWORD: secrets.owner.password,
      }),
      secret('operator', {
        NATS_URL: buildNatsUrls(nats, secrets.natsPasswords).natsUrl,
        DATABASE_URL: postgres,
      }),
      secret('postgres-superuser', { username, password }, 'kubernetes.io/basic-auth'),
      secret('nats-users', { 'users.conf': natsAuthorization(secrets) }),
    ],
  }
}
