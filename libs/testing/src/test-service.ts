import { type InternalParty, newId, type Principal, permissions } from '@opsplane/contracts'
import { createGrants, createInternalIssuer, type InternalIssuer } from '@opsplane/http'
import { urlAs, withGuardedConnections } from '@opsplane/postgres'
import type { BackendConfig, RunningService } from '@opsplane/runtime'
import type { Service, ServiceOverrides } from '@opsplane/service'
import postgres from 'postgres'
import { type ApiClient, createApiClient } from './api-client.js'
import { measureFixture } from './jest/profile.js'
import { testKeys, testTrustedKeys } from './party-keys.js'
import {
  createDatabase,
  type TestDatabase,
  templateDatabase,
  testLogin,
  testNatsUrl,
  testRole,
  testRolePassword,
  uniquePrefix,
} from './test-env.js'

type Env = Record<string, string | undefined>

export interface TestServiceOptions<Overrides> {
  /** Variables the service needs in addition to those of every service. */
  env?: Record<string, string>
  overrides?: Overrides
  /** An empty database for this service alone; default: a new one, already provisioned. */
  database?: TestDatabase
  /** Starts the service from its variables; default: in this process. */
  start?(env: Env): Promise<RunningService>
}

/** The real service with its own database and NATS subjects. */
export interface TestService<Overrides = ServiceOverrides> {
  /** Name of the service in the registry. */
  name: string
  url: string
  natsPrefix: string
  /** The simulated time of its due work, if any. */
  now?: (() => string) | undefined
  /** The variables it was started with. */
  env: Env
  /** Connected as the owner of the schema, which is also the search_path. */
  sql: postgres.Sql
  adminUrl: string
  /** Calls the service like the gateway for a client: as this principal, or as an anonymous client. */
  as(principal?: Principal): ApiClient
  /** Calls its internal routes with the identity of a service. */
  asService(caller: InternalParty): ApiClient
  /** Calls it like another service acting for a person, such as a step of a run. */
  asDelegate(by: InternalParty, principal: Principal): ApiClient
  /** Headers of a call as `principal`, for other kinds of clients. */
  headers(principal?: Principal): Promise<Record<string, string>>
  /** Starts another replica, on its own port; the caller stops it. */
  replica(overrides?: Overrides): Promise<RunningService>
  /** Rebuilds its read models from its log. */
  rebuild(): Promise<{ events: number }>
  stop(): Promise<void>
}

/** Starts a service as a process would, from environment variables alone. */
export function startTestService<Config extends BackendConfig, Overrides extends ServiceOverrides>(
  service: Service<Config, Overrides>,
  options: TestServiceOptions<Overrides> = {},
): Promise<TestService<Overrides>> {
  return measureFixture(`service ${service.name}`, () => start(service, options))
}

async function start<Config extends BackendConfig, Overrides extends ServiceOverrides>(
  service: Service<Config, Overrides>,
  options: TestServiceOptions<Overrides>,
): Promise<TestService<Overrides>> {
  const { name } = service
  const provision = (adminUrl: string) => service.provision({ adminUrl, ...testLogin })
  const database = options.database ?? (await migratedDatabase(service))
  const natsPrefix = uniquePrefix()
  const clock = options.overrides?.clock
  const env: Env = {
    DATABASE_URL: options.database
      ? await provision(database.url)
      : urlAs(database.url, testRole(service.schema), testRolePassword),
    // One connection per pool: code that needs a second connection within a transaction deadlocks.
    DATABASE_POOL_SIZE: '3',
    NATS_URL: testNatsUrl(),
    NATS_PREFIX: natsPrefix,
    INSTANCE_ID: uniquePrefix(),
    LOG_LEVEL: process.env.TEST_LOG_LEVEL ?? 'silent',
    SERVICE_PRIVATE_KEY: testKeys(name).privateKey,
    TRUSTED_SERVICE_KEYS: JSON.stringify(testTrustedKeys(name)),
    CURSOR_SECRET: 'a secret for the cursors of tests',
    // Costs a process and a second of CPU for each service with articles; the feature's own tests enable it.
    EMBEDDINGS_LOCAL: 'false',
    // A separate process may be killed; messages it was handling are redelivered after this time.
    ...(options.start && { NATS_ACK_WAIT_MS: '1000' }),
    ...options.env,
  }
  const startHere = (variables: Env, overrides?: Overrides) =>
    withGuardedConnections(() => service.start(service.loadConfig(variables), overrides))
  const running = await (options.start ?? ((variables) => startHere(variables, options.overrides)))(env)
  const sql = openAsOwner(database.url, service.schema)
  return {
    ...createClients({ name, url: running.url, privateKeyOf: (party) => testKeys(party).privateKey }),
    natsPrefix,
    now: clock && (() => clock.now()),
    env,
    sql,
    adminUrl: database.url,
    replica: (overrides) => startHere({ ...env, INSTANCE_ID: uniquePrefix(), PORT: '0' }, overrides),
    rebuild: () => service.rebuild({ adminUrl: database.url }),
    async stop() {
      await running.stop()
      await sql.end({ timeout: 1 })
      await database.drop()
    },
  }
}

/** Connections to a service's database as the owner of its schema. */
export const openAsOwner = (url: string, schema: string): postgres.Sql =>
  postgres(url, { max: 2, onnotice: () => undefined, connection: { search_path: schema } })

/** Clients with which tests call the service at this URL, using the keys of its callers. */
export function createClients(options: {
  name: string
  url: string
  privateKeyOf(party: InternalParty): string
}): Pick<TestService, 'name' | 'url' | 'as' | 'asService' | 'asDelegate' | 'headers'> {
  const { name, url, privateKeyOf } = options
  const issuers = new Map<InternalParty, InternalIssuer>()
  const issuerOf = (party: InternalParty) => {
    const issuer =
      issuers.get(party) ?? createInternalIssuer({ service: party, privateKey: privateKeyOf(party) })
    issuers.set(party, issuer)
    return issuer
  }
  const gateway = issuerOf('gateway')
  const headers = async (principal?: Principal) => ({
    authorization: `Bearer ${await gateway.clientToken(name, principal)}`,
  })
  return {
    name,
    url,
    as: (principal) => createApiClient(url, () => headers(principal)),
    asService(caller) {
      const issuer = issuerOf(caller)
      return createApiClient(url, async (call) => ({
        authorization: `Bearer ${await issuer.serviceToken(name, call)}`,
      }))
    },
    asDelegate(by, principal) {
      const grants = createGrants(privateKeyOf('settings'))
      return createApiClient(url, async () => ({
        authorization: `Bearer ${await grants.tokenFor({ principal, by, run: newId('run') }, name)}`,
      }))
    },
    headers,
  }
}

/** A copy of the database provisioned by the run's first test file that starts the service. */
async function migratedDatabase({
  name,
  provision,
  afterMigrations,
}: Pick<Service, 'name' | 'provision' | 'afterMigrations'>) {
  const template = await templateDatabase(name, async (adminUrl) => {
    await provision({ adminUrl, ...testLogin })
  })
  const database = await createDatabase(template)
  await afterMigrations?.({ adminUrl: database.url })
  return database
}

/** A principal with every permission in a new workspace, unless overridden. */
export function testPrincipal(overrides: Partial<Principal> = {}): Principal {
  return {
    actor: { id: 'usr_01JZ8Q4D3N5W7X9Y2B4C6D8E0F', name: 'Ada', type: 'user' },
    userId: 'usr_01JZ8Q4D3N5W7X9Y2B4C6D8E0F',
    tokenId: 'ses_01JZ8Q4D3N5W7X9Y2B4C6D8E0F',
    workspaceId: `ws_${uniquePrefix()}`,
    workspaceSlug: 'acme',
    environment: 'production',
    role: 'owner',
    permissions: [...permissions],
    ...overrides,
  }
}
