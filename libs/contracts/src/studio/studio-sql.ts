import { z } from 'zod'
import { idSchema } from '../core/ids.js'
import { Environment } from '../core/principal.js'
import { type EventDefinition, resourceEvent } from '../events/catalog.js'
import { ScalarType } from './studio-columns.js'
import { TableState } from './studio-tables.js'

const At = z.iso.datetime({ precision: 3 })
const Name = z.string().trim().min(1).max(200)
const Description = z.string().trim().max(2_000)

/** Maximum length of a query, in characters. */
const maxSql = 100_000
const Sql = z.string().min(1).max(maxSql)

/** Type of a parameter; if absent, Postgres infers it from the position. */
const parameterTypes = [
  ...ScalarType.options,
  'json',
  ...ScalarType.options.map((type) => `${type}[]` as const),
] as const
export const ParameterType = z.enum(parameterTypes).meta({
  // Client generators drop the brackets, and would give an array type the name of its element type.
  'x-enum-varnames': parameterTypes.map((type) => type.toUpperCase().replace('[]', '_ARRAY')),
})
export type ParameterType = z.infer<typeof ParameterType>

const ParameterName = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_]{0,62}$/, 'must be a letter or _, followed by letters, digits and _')

export const QueryMode = z.enum(['read', 'write'])
export type QueryMode = z.infer<typeof QueryMode>

const maxParameters = 1_000
const ParameterValues = z.union([
  z.array(z.unknown()).max(maxParameters),
  z.record(ParameterName, z.unknown()),
])

const bounds = {
  maxRows: z
    .int()
    .min(1)
    .max(10_000)
    .default(1_000)
    .meta({ description: 'Maximum number of rows returned.' }),
  timeoutMs: z
    .int()
    .min(100)
    .max(30_000)
    .default(10_000)
    .meta({ description: 'Time in milliseconds after which the query is ended.' }),
  explain: z.enum(['plan', 'analyze']).optional().meta({
    description: 'Returns the plan instead of rows; `analyze` also runs the query and undoes its changes.',
  }),
}

/** A query to be run immediately. */
export const RunQuery = z
  .strictObject({
    sql: Sql.meta({
      description:
        'One SELECT or VALUES statement; with `mode` write also one INSERT, UPDATE or DELETE statement. Parameters ' +
        'are `$1` or `:name`.',
    }),
    parameters: ParameterValues.default([]).meta({
      description: 'Parameter values: a list for `$1`, `$2`, …, or an object for `:name`.',
    }),
    types: z
      .union([z.array(ParameterType.nullable()).max(maxParameters), z.record(ParameterName, ParameterType)])
      .optional()
      .meta({ description: 'Types of parameters that Postgres cannot infer.' }),
    mode: QueryMode.default('read'),
    ...bounds,
  })
  .meta({
    id: 'RunQuery',
    example: {
      sql: 'select n, n * n as square from generate_series(1, :most) n',
      parameters: { most: 10 },
      types: { most: 'integer' },
    },
  })

export const QueryResult = z
  .object({
    columns: z.array(z.object({ name: z.string(), type: z.string() })),
    rows: z.array(z.record(z.string(), z.unknown())).meta({
      description:
        'Rows as objects by column name; a repeated name receives the suffix `_2`. Bigints and decimals are strings.',
    }),
    rowCount: z
      .int()
      .meta({ description: 'Number of rows returned, or of rows changed if none are returned.' }),
    affected: z.int().optional().meta({
      description: 'Number of rows changed by an INSERT, UPDATE or DELETE, whether returned or not.',
    }),
    truncated: z
      .enum(['rows', 'bytes'])
      .nullable()
      .meta({ description: 'Limit due to which rows are missing; `null` if all rows are returned.' }),
    durationMs: z.number(),
    plan: z
      .unknown()
      .optional()
      .meta({ description: 'Query plan in the JSON format of Postgres, with `explain`.' }),
  })
  .meta({ id: 'QueryResult' })
export type QueryResult = z.infer<typeof QueryResult>

/** A parameter of a saved query. */
export const QueryParameter = z
  .strictObject({
    name: ParameterName,
    type: ParameterType,
    required: z.boolean().default(true),
    default: z.unknown().optional(),
    description: Description.default(''),
  })
  .meta({ id: 'QueryParameter' })
export type QueryParameter = z.infer<typeof QueryParameter>

const savedFields = {
  name: Name,
  description: Description,
  sql: Sql,
  mode: QueryMode,
  parameters: z.array(QueryParameter).max(100),
}

/** A saved query as contained in events. */
export const SavedQueryState = z.object({
  id: idSchema('query'),
  ...savedFields,
  createdAt: At,
  updatedAt: At,
})
export type SavedQueryState = z.infer<typeof SavedQueryState>

export const SavedQuery = SavedQueryState.extend({ version: z.int().min(1) }).meta({ id: 'SavedQuery' })
export type SavedQuery = z.infer<typeof SavedQuery>

export const NewSavedQuery = z
  .strictObject({
    ...savedFields,
    description: Description.default(''),
    mode: QueryMode.default('read'),
    parameters: savedFields.parameters.default([]),
  })
  .meta({
    id: 'NewSavedQuery',
    example: {
      name: 'Squares',
      sql: 'select n, n * n as square from generate_series(1, :most) n',
      parameters: [{ name: 'most', type: 'integer' }],
    },
  })

export const SavedQueryPatch = z
  .strictObject(savedFields)
  .partial()
  .meta({ id: 'SavedQueryPatch', example: { name: 'Square numbers' } })

export const RunSavedQuery = z
  .strictObject({
    parameters: z.record(ParameterName, z.unknown()).default({}),
    version: z
      .int()
      .min(1)
      .optional()
      .meta({ description: 'Earlier version of the query to run. Default: the current version.' }),
    ...bounds,
  })
  .meta({ id: 'RunSavedQuery', example: { parameters: { most: 10 } } })
export type RunSavedQuery = z.infer<typeof RunSavedQuery>

const migrationStatuses = ['pending', 'applied', 'rolled_back', 'failed'] as const
export const MigrationStatus = z.enum(migrationStatuses)
export type MigrationStatus = z.infer<typeof MigrationStatus>

const MigrationSql = z.string().max(262_144)

const Definition = TableState.omit({ id: true, purgeAt: true, createdAt: true, updatedAt: true })

/** A migration as contained in events. */
export const MigrationState = z.object({
  id: idSchema('migration'),
  number: z
    .int()
    .min(1)
    .meta({
      description:
        'Position in the order in which the migrations of a workspace and environment are applied. If a later ' +
        'migration is already applied, applying this migration assigns the next number to it.',
    }),
  name: Name,
  up: MigrationSql,
  down: MigrationSql.nullable(),
  /** SHA-256 of `up` and `down` in hex: a promoted migration has the same checksum as the original. */
  checksum: z.string(),
  /**
   * Runs in one transaction. If `false`, it creates or drops indexes concurrently,
   * which Postgres does not allow in one.
   */
  transactional: z.boolean(),
  /** Written by hand, recorded from a change of a table's definition, or promoted from another environment. */
  origin: z.enum(['sql', 'table', 'promotion']),
  /** The table definition after the change. Promoted too, because the SQL does not express all of it. */
  definition: Definition.nullable(),
  /** The table definition before the change, restored by a rollback. */
  previous: Definition.nullable(),
  status: MigrationStatus,
  appliedAt: At.nullable(),
  /** Why the last attempt failed. */
  error: z.string().nullable(),
  createdAt: At,
  updatedAt: At,
})
export type MigrationState = z.infer<typeof MigrationState>
export type PromotedDefinition = NonNullable<MigrationState['definition']>

export const Migration = MigrationState.extend({ version: z.int().min(1) }).meta({ id: 'Migration' })
export type Migration = z.infer<typeof Migration>

export const NewMigration = z
  .strictObject({
    name: Name,
    up: MigrationSql.min(1).meta({
      description: 'DDL for tables, indexes and types, and statements that change rows.',
    }),
    down: MigrationSql.min(1)
      .nullable()
      .default(null)
      .meta({ description: 'SQL that undoes `up`. If omitted, the migration cannot be rolled back.' }),
    transactional: z
      .boolean()
      .default(true)
      .meta({
        description:
          'Whether the migration runs in one transaction. `false` only for migrations that consist of CREATE and DROP ' +
          'INDEX CONCURRENTLY.',
      }),
  })
  .meta({
    id: 'NewMigration',
    example: {
      name: 'Rooms',
      up: 'create table rooms (name text not null unique, seats integer)',
      down: 'drop table rooms',
    },
  })
export type NewMigration = z.infer<typeof NewMigration>

export const MigrationPatch = z
  .strictObject({
    name: Name,
    up: NewMigration.shape.up,
    down: NewMigration.shape.down.unwrap(),
    transactional: NewMigration.shape.transactional.unwrap(),
  })
  .partial()
  .meta({ id: 'MigrationPatch', example: { up: 'create table rooms (name text not null unique)' } })
export type MigrationPatch = z.infer<typeof MigrationPatch>

const maxOpen = 1_000

/** New order of the migrations that are not applied yet. */
export const MigrationOrder = z
  .strictObject({ ids: z.array(z.string().max(200)).max(maxOpen) })
  .meta({ id: 'MigrationOrder', example: { ids: [] } })

export const OrderedMigrations = z
  .object({ migrations: z.array(Migration) })
  .meta({ id: 'OrderedMigrations' })

/** Timeout of one migration. */
export const ApplyMigration = z
  .strictObject({ timeoutMs: z.int().min(1_000).max(600_000).default(60_000) })
  .meta({ id: 'ApplyMigration', example: {} })

export const DryRun = z
  .object({
    statements: z.array(
      z.object({
        sql: z.string(),
        rows: z
          .int()
          .nullable()
          .meta({ description: 'Number of rows changed; `null` if the rows are not counted.' }),
        locks: z
          .array(z.object({ name: z.string(), mode: z.string() }))
          .meta({ description: 'Additional locks on tables and indexes that the statement acquires.' }),
        durationMs: z.number(),
      }),
    ),
    tables: z
      .object({ created: z.array(z.string()), updated: z.array(z.string()), deleted: z.array(z.string()) })
      .meta({ description: 'Slugs of the tables whose definitions would change.' }),
  })
  .meta({ id: 'DryRun' })
export type DryRun = z.infer<typeof DryRun>

/** Differences between the schema and the definitions and migrations: unexplained objects, and missing ones. */
export const Drift = z
  .object({
    inSync: z.boolean(),
    differences: z.array(
      z.object({
        table: z.string(),
        kind: z.enum(['missing', 'unmanaged', 'changed', 'capture_off', 'invalid_index']),
        message: z.string(),
      }),
    ),
  })
  .meta({ id: 'Drift' })
export type Drift = z.infer<typeof Drift>

export const PromoteMigrations = z
  .strictObject({
    from: Environment.meta({
      description: 'Environment whose applied migrations are promoted to the environment of the request.',
    }),
    dryRun: z
      .boolean()
      .default(false)
      .meta({
        description:
          'Runs all migrations in one transaction and undoes it. A migration that fails in the dry run would also fail ' +
          'in the promotion.',
      }),
    timeoutMs: z.int().min(1_000).max(600_000).default(60_000),
  })
  .meta({ id: 'PromoteMigrations', example: { from: 'staging', dryRun: true } })

export const Promotion = z
  .object({
    migrations: z.array(Migration.pick({ number: true, name: true, checksum: true, status: true })),
  })
  .meta({ id: 'Promotion' })

export const studioSqlEvents = {
  'query.created': resourceEvent(SavedQueryState, 'A query was saved.'),
  'query.updated': resourceEvent(SavedQueryState, 'A saved query changed.'),
  'query.deleted': resourceEvent(SavedQueryState, 'A saved query was deleted.'),
  'migration.created': resourceEvent(MigrationState, 'A migration was written.'),
  'migration.updated': resourceEvent(
    MigrationState,
    'A migration that is not applied was edited, or has another place in the order.',
  ),
  'migration.applied': resourceEvent(MigrationState, 'A migration was applied.'),
  'migration.rolled_back': resourceEvent(MigrationState, 'A migration was rolled back.'),
  'migration.failed': resourceEvent(
    MigrationState,
    'A migration could not be applied or rolled back, and has changed nothing.',
  ),
  'migration.deleted': resourceEvent(MigrationState, 'A migration that was not applied was deleted.'),
} satisfies Record<string, EventDefinition>
