import { originPrefix, type ServiceEntry, serviceRegistry } from '@opsplane/contracts'
import { type AnyDecider, compareReadModels, provisionService, rebuild } from '@opsplane/eventstore'
import type { Installation } from '@opsplane/postgres'
import type { BackendConfig, RunnableService } from '@opsplane/runtime'
import type { ServiceOverrides } from './context.js'
import { countConnections, type ExtraSchemas, type ServiceDefinition } from './service-definition.js'
import { startService } from './start-service.js'

/** A service with a database: it can be started, run as a process, provisioned, rebuilt, and listed. */
export interface Service<
  Config extends BackendConfig = BackendConfig,
  Overrides extends ServiceOverrides = ServiceOverrides,
> extends RunnableService<Config, Overrides> {
  schema: string
  paths: readonly string[]
  migrationsDir: string
  /** Maximum Postgres connections of one replica. */
  connections(config: Config): number
  /** All tables a rebuild fills from the log. */
  tables: readonly string[]
  /**
   * Migrates the service's schema, as a superuser; returns the URL the service connects with. Throws
   * InstallationError: see `provisionSchema`.
   */
  provision(options: { adminUrl: string; password: string; installation: Installation }): Promise<string>
  /**
   * Last step of `provision`: sets up objects that belong to the database rather than to the
   * schema, and that copies of the database lack.
   */
  afterMigrations: ServiceDefinition['afterMigrations']
  extraSchemas: ExtraSchemas | undefined
  /** Compares the read models with a fold of the log, and runs the service's other checks. Returns one line per problem. */
  prove(options: { adminUrl: string; onProgress?(events: number): void }): Promise<string[]>
  /** Rebuilds the service's read models from its log. */
  rebuild(options: { adminUrl: string; onProgress?(events: number): void }): Promise<{ events: number }>
}

/** Throws if two deciders share a table, or if the registry does not list the name and `paths` is absent. */
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
    connections: (config) => countConnections(definition, config),
    tables: [...deciders.map(({ table }) => table), ...projectedTables],
    loadConfig: definition.loadConfig,
    start: (config, overrides) => startService({ ...definition, schema, paths }, config, overrides),
    async provision(options) {
      const url = await provisionService({ ...options, service: schema, migrationsDir })
      await definition.afterMigrations?.(options)
      return url
    },
    afterMigrations: definition.afterMigrations,
    extraSchemas: definition.extraSchemas,
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

/** The log identifies a decider by its table, so two deciders of one table could not be distinguished when it is read. */
function refuseSharedTables(deciders: readonly AnyDecider[]): void {
  const tables = new Set<string>()
  for (const { table } of deciders) {
    if (tables.has(table)) throw new Error(`two deciders keep their state in ${table}`)
    tables.add(table)
  }
}
