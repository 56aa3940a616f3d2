import type { AnyDecider } from '@opsplane/eventstore'
import type { Route } from '@opsplane/http'
import type { StatementRunner } from '@opsplane/postgres'
import type { BackendConfig } from '@opsplane/runtime'
import type { BackgroundWork, ServiceContext, ServiceOverrides } from './context.js'

/** What a service keeps in its database outside its own schema, for backups and adoptions. */
export interface ExtraSchemas {
  /** Roles it has created in addition to its own, by their names without the prefix of the installation; an adoption renames them. */
  roles(sql: StatementRunner): Promise<string[]>
  /** As the caller's transaction sees it: the schemas whose rows are copied, and a description to recreate them from, as JSON. */
  describe(sql: StatementRunner): Promise<{ schemas: string[]; description: unknown }>
  /** Makes them, within the transaction that then fills them; what there is of it goes. */
  prepare(sql: StatementRunner, description: unknown): Promise<void>
  /** Once all rows are there, those of the service's own schema included. */
  finish(sql: StatementRunner, description: unknown): Promise<void>
}

/** What a service is made of. Nothing is opened before it starts. */
export interface ServiceDefinition<
  Config extends BackendConfig = BackendConfig,
  Overrides extends ServiceOverrides = ServiceOverrides,
> {
  /** Its identity between services; with `_` for `-` also its schema. */
  name: string
  /** What its paths begin with, such as `incidents` or `origin/hooks`; as the registry has it unless given. */
  paths?: readonly string[]
  /** Its settings from environment variables. Throws ConfigError. */
  loadConfig(env: Record<string, string | undefined>): Config
  /** SQL migrations of its schema. */
  migrationsDir: string
  /** Ends its provisioning, as the same superuser: what belongs to the database rather than to the schema. Repeatable. */
  afterMigrations?(options: { adminUrl: string }): Promise<void>
  /** Every kind of aggregate it keeps; no two may share a table. */
  deciders: readonly AnyDecider[]
  /** Tables the deciders fill in addition to their own. */
  projectedTables?: readonly string[]
  /** Ends a rebuild of its read models, as the same superuser: state that is folded from other services' logs is rebuilt as well. */
  alsoRebuild?(options: { adminUrl: string }): Promise<void>
  /** The maximum number of connections it opens in addition to its `Database`. */
  otherConnections?(config: Config): number
  /** What of it a backup does not find in its schema. */
  extraSchemas?: ExtraSchemas
  /** Checks the state it keeps outside its read models; returns one line per problem. */
  prove?(options: { adminUrl: string }): Promise<string[]>
  /** Looks for words of texts, which is worth a warning where the database knows the letters of ASCII only. */
  searchesTexts?: boolean
  /** Makes, once, what the routes and the background work share. */
  setup(ctx: ServiceContext<Config>, overrides: Overrides): ServiceParts | Promise<ServiceParts>
}

/** How many connections to Postgres one replica opens at most. */
export const countConnections = <Config extends BackendConfig>(
  { otherConnections }: Pick<ServiceDefinition<Config>, 'otherConnections'>,
  config: Config,
): number => config.databasePoolSize + (otherConnections?.(config) ?? 0)

export interface ServiceParts {
  routes: readonly Route[]
  /** Consumers, loops and whatever holds a resource, in the order they were opened: closed from the last to the first, after the last request and before the relay. */
  background?: readonly BackgroundWork[]
  /** Called first on stop, to let go of requests that wait for something. */
  onDrain?(): void
}
