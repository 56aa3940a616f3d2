import { originPrefix, type ServiceEntry, serviceRegistry } from '@opsplane/contracts'
import { type AnyDecider, compareReadModels, provisionService, rebuild } from '@opsplane/eventstore'
import type { Route } from '@opsplane/http'
import type { StatementRunner } from '@opsplane/postgres'
import type { BackendConfig, RunnableService } from '@opsplane/runtime'
import type { BackgroundWork, ServiceContext, ServiceOverrides } from './context.js'
import { startService } from './start-service.js'

/** What a service keeps in its database outside its own schema, for backups. */
export interface BesideSchema {
  /** As the caller's transaction sees it: the schemas whose rows are copied, and what makes them anew, as JSON. */
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
  /** Tables the deciders fill beside their own. */
  projectedTables?: readonly string[]
  /** Ends a rebuild of its read models, as the same superuser: what it keeps of the logs of others is made anew as well. */
  alsoRebuild?(options: { adminUrl: string }): Promise<void>
  /** What of it a backup does not find in its schema. */
  beside?: BesideSchema
  /** Looks at what it keeps beside its read models; what is wrong, a line each. */
  prove?(options: { adminUrl: string }): Promise<string[]>
  /** Looks for words of texts, which is worth a warning where the database knows the letters of ASCII only. */
  searchesTexts?: boolean
  /** Makes, once, what the routes and the background work share. */
  setup(ctx: ServiceContext<Config>, overrides: Overrides): ServiceParts | Promise<ServiceParts>
}

export interface ServiceParts {
  routes: readonly Route[]
  /** Consumers, loops and whatever holds a resource, in the order they were opened: closed from the last to the first, after the last request and before the relay. */
  background?: readonly BackgroundWork[]
  /** Called first on stop, to let go of requests that wait for something. */
  onDrain?(): void
}

/** A service with a database: it can be started, run as a process, provisioned, rebuilt, and listed. */
export interface Service<
  Config extends BackendConfig = BackendConfig,
  Overrides extends ServiceOverrides = ServiceOverrides,
> extends RunnableService<Config, Overrides> {
  schema: string
  paths: readonly string[]
  migrationsDir: string
  /** Every table that folding its log anew fills. */
  tables: readonly string[]
  /** Brings its schema up to date, as a superuser; returns the URL it connects with. */
  provision(options: { adminUrl: string; password: string }): Promise<string>
  beside: BesideSchema | undefined
  /** Compares its read models with what folding its log gives, and looks at whatever else it can prove; what is wrong, a line each. */
  prove(options: { adminUrl: string; onProgress?(events: number): void }): Promise<string[]>
  /** Folds its read models anew from its log. */
  rebuild(options: { adminUrl: string; onProgress?(events: number): void }): Promise<{ events: number }>
}

/** Throws when two deciders share a table, or no registry knows the name and `paths` is not given. */
export function defineService<
  Config extends BackendConfig,
  Overrides extends ServiceOverrides = ServiceOverrides,
>(definition: ServiceDefinition<Config, Overrides>): Service<Config, Overrides> {
  const { name, migrationsDir, deciders, projectedTables = [] } = definition
  const paths = definition.paths ?? registeredPaths(name)
  const schema = name.replaceAll('-', '_')
  refuseSharedTables(deciders)
  return {
    name,
    schema,
    paths,
    migrationsDir,
    tables: [...deciders.map(({ table }) => table), ...projectedTables],
    loadConfig: definition.loadConfig,
    start: (config, overrides) => startService({ ...definition, schema, paths }, config, overrides),
    async provision({ adminUrl, password }) {
      const url = await provisionService({ adminUrl, service: schema, password, migrationsDir })
      await definition.afterMigrations?.({ adminUrl })
      return url
    },
    beside: definition.beside,
    async prove(options) {
      const differences = await compareReadModels({ ...options, schema, deciders, projectedTables })
      const wrong = differences.map(
        ({ table, wrong, missing }) =>
          `${schema}.${table}: ${wrong} rows are not what the log says, ${missing} are missing`,
      )
      return [...wrong, ...((await definition.prove?.(options)) ?? [])]
    },
    async rebuild(options) {
      const rebuilt = await rebuild({ ...options, schema, deciders, projectedTables })
      await definition.alsoRebuild?.(options)
      return rebuilt
    },
  }
}

function registeredPaths(name: string): readonly string[] {
  const entries: Readonly<Record<string, ServiceEntry>> = serviceRegistry
  const entry = entries[name]
  if (!entry?.database) throw new Error(`the registry has no service with a database that is called ${name}`)
  return [...entry.paths, ...(entry.originPaths ?? []).map((path) => `${originPrefix.slice(1)}/${path}`)]
}

/** The table names a decider in the log, so two of one table could not be distinguished when it is read back. */
function refuseSharedTables(deciders: readonly AnyDecider[]): void {
  const tables = new Set<string>()
  for (const { table } of deciders) {
    if (tables.has(table)) throw new Error(`two deciders keep their state in ${table}`)
    tables.add(table)
  }
}
