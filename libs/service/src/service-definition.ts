import type { AnyDecider } from '@opsplane/eventstore'
import type { Route } from '@opsplane/http'
import type { StatementRunner } from '@opsplane/postgres'
import type { BackendConfig } from '@opsplane/runtime'
import type { BackgroundWork, ServiceContext, ServiceOverrides } from './context.js'

/** Data a service stores in its database outside its own schema, for backups and adoptions. */
export interface ExtraSchemas {
  /** Roles the service created in addition to its own, without the installation's prefix; an adoption renames them. */
  roles(sql: StatementRunner): Promise<string[]>
  /** Read in the caller's transaction: the schemas whose rows are copied, and a JSON description to recreate them from. */
  describe(sql: StatementRunner): Promise<{ schemas: string[]; description: unknown }>
  /** Creates the schemas within the transaction that then fills them; existing ones are replaced. */
  prepare(sql: StatementRunner, description: unknown): Promise<void>
  /** Called when all rows exist, including those of the service's own schema. */
  finish(sql: StatementRunner, description: unknown): Promise<void>
}

/** Definition of a service. Nothing is opened before it starts. */
export interface ServiceDefinition<
  Config extends BackendConfig = BackendConfig,
  Overrides extends ServiceOverrides = ServiceOverrides,
> {
  /** Identity of the service in calls; also its schema, with `_` for `-`. */
  name: string
  /** Prefixes of its paths, such as `incidents` or `origin/hooks`; default: those in the registry. */
  paths?: readonly string[]
  /** Reads the settings from environment variables. Throws ConfigError. */
  loadConfig(env: Record<string, string | undefined>): Config
  /** SQL migrations of the schema. */
  migrationsDir: string
  /**
   * Last step of provisioning, as the same superuser: sets up objects that belong to the database
   * rather than to the schema. Repeatable.
   */
  afterMigrations?(options: { adminUrl: string }): Promise<void>
  /** Deciders of all aggregate types of the service; no two may share a table. */
  deciders: readonly AnyDecider[]
  /** Tables the deciders fill in addition to their own. */
  projectedTables?: readonly string[]
  /** Last step of a rebuild, as the same superuser: rebuilds state folded from other services' logs. */
  alsoRebuild?(options: { adminUrl: string }): Promise<void>
  /** The maximum number of connections opened in addition to the service's `Database`. */
  otherConnections?(config: Config): number
  /** Data a backup of the schema does not include. */
  extraSchemas?: ExtraSchemas
  /** Checks state outside the read models; returns one line per problem. */
  prove?(options: { adminUrl: string }): Promise<string[]>
  /** Set if the service searches words in texts: it then warns if the database only knows ASCII letters. */
  searchesTexts?: boolean
  /** Creates, once, the objects that routes and background work share. */
  setup(ctx: ServiceContext<Config>, overrides: Overrides): ServiceParts | Promise<ServiceParts>
}

/** Maximum Postgres connections of one replica. */
export const countConnections = <Config extends BackendConfig>(
  { otherConnections }: Pick<ServiceDefinition<Config>, 'otherConnections'>,
  config: Config,
): number => config.databasePoolSize + (otherConnections?.(config) ?? 0)

export interface ServiceParts {
  routes: readonly Route[]
  /**
   * Consumers, loops and owners of resources, in the order they were opened. Closed in reverse order,
   * after the last request and before the relay.
   */
  background?: readonly BackgroundWork[]
  /** Called first on stop, to end requests that wait for something. */
  onDrain?(): void
}
