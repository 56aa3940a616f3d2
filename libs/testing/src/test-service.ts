import { type Principal, permissions } from '@opsplane/contracts'
import { createInternalIssuer, generateServiceKeys } from '@opsplane/http'
import { provisionService } from '@opsplane/postgres'
import type { RunningService } from '@opsplane/runtime'
import postgres from 'postgres'
import { type ApiClient, createApiClient } from './api-client.js'
import {
  createDatabase,
  type TestDatabase,
  templateDatabase,
  testNatsUrl,
  testRolePassword,
  uniquePrefix,
} from './test-env.js'

export interface TestServiceOptions<Config> {
  /** Names schema, role and internal audience. */
  name: string
  migrationsDir: string
  loadConfig(env: Record<string, string | undefined>): Config
  start(config: Config): Promise<RunningService>
  /** Variables the service needs beyond those of every service. */
  env?: Record<string, string>
  /** An empty one of its own; otherwise a new one. */
  database?: TestDatabase
}

/** The real service on a database and NATS subjects of its own. */
export interface TestService {
  url: string
  natsPrefix: string
  /** As the owner of the schema, which is also the search_path. */
  sql: postgres.Sql
  adminUrl: string
  /** Calls the service the way the gateway does, in the name of this principal; without one, as a service. */
  as(principal?: Principal): ApiClient
  /** What such a call carries, for clients of another kind. */
  headers(principal?: Principal): Promise<Record<string, string>>
  stop(): Promise<void>
}

/** Starts a service as a process would, from environment variables alone. */
export async function startTestService<Config>(options: TestServiceOptions<Config>): Promise<TestService> {
  const { name } = options
  const provision = (adminUrl: string) =>
    provisionService({
      adminUrl,
      service: name,
      password: testRolePassword,
      migrationsDir: options.migrationsDir,
    })
  const migrated = () => templateDatabase(name, async (url) => void (await provision(url)))
  const database = options.database ?? (await createDatabase(await migrated()))
  const [gateway, own] = [generateServiceKeys(), generateServiceKeys()]
  const issuer = createInternalIssuer({ service: 'gateway', privateKey: gateway.privateKey })
  const natsPrefix = uniquePrefix()
  const running = await options.start(
    options.loadConfig({
      DATABASE_URL: await provision(database.url),
      NATS_URL: testNatsUrl(),
      NATS_PREFIX: natsPrefix,
      INSTANCE_ID: uniquePrefix(),
      LOG_LEVEL: process.env.TEST_LOG_LEVEL ?? 'silent',
      SERVICE_PRIVATE_KEY: own.privateKey,
      TRUSTED_SERVICE_KEYS: JSON.stringify({ gateway: gateway.publicKey, [name]: own.publicKey }),
      CURSOR_SECRET: 'a secret for the cursors of tests',
      ...options.env,
    }),
  )
  const headers = async (principal?: Principal) => ({
    authorization: `Bearer ${await issuer.tokenFor(name, principal)}`,
  })
  const sql = postgres(database.url, { max: 2, onnotice: () => undefined, connection: { search_path: name } })
  return {
    url: running.url,
    natsPrefix,
    sql,
    adminUrl: database.url,
    as: (principal) => createApiClient(running.url, () => headers(principal)),
    headers,
    async stop() {
      await running.stop()
      await sql.end({ timeout: 1 })
      await database.drop()
    },
  }
}

/** A principal with every permission in a workspace of its own, unless told otherwise. */
export function testPrincipal(overrides: Partial<Principal> = {}): Principal {
  return {
    actor: { id: 'usr_01JZ8Q4D3N5W7X9Y2B4C6D8E0F', name: 'Ada', type: 'user' },
    userId: 'usr_01JZ8Q4D3N5W7X9Y2B4C6D8E0F',
    tokenId: 'ses_01JZ8Q4D3N5W7X9Y2B4C6D8E0F',
    workspaceId: `ws_${uniquePrefix()}`,
    workspaceSlug: 'acme',
    environment: 'production',
    permissions: [...permissions],
    ...overrides,
  }
}
