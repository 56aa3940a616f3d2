import { dueIndexes, dueTable, leaseColumns, retryColumns } from '@opsplane/postgres'
import {
  bigint,
  boolean,
  doublePrecision,
  index,
  integer,
  pgTable,
  primaryKey,
  smallint,
  text,
  timestamp,
} from 'drizzle-orm/pg-core'
import { changes } from '../dataset/changes.js'
import { columnName, type Dataset, type FactType, factTableName } from '../dataset/dataset.js'
import { deliveries } from '../dataset/deliveries.js'
import { events, records } from '../dataset/events.js'
import { executions } from '../dataset/executions.js'
import { incidents } from '../dataset/incidents.js'
import { problems } from '../dataset/problems.js'
import { runs } from '../dataset/runs.js'
import { slaClocks } from '../dataset/sla-clocks.js'

const instant = (name: string) => timestamp(name, { withTimezone: true, precision: 3, mode: 'string' })

const columnTypes = {
  text: (name: string) => text(name),
  integer: (name: string) => bigint(name, { mode: 'number' }),
  boolean: (name: string) => boolean(name),
  timestamp: instant,
} satisfies Record<FactType, (name: string) => unknown>

const factColumns = () => ({
  id: text('id').primaryKey(),
  workspaceId: text('workspace_id').notNull(),
  environment: text('environment').notNull(),
  version: bigint('version', { mode: 'number' }).notNull(),
  createdAt: instant('created_at').notNull(),
})

/** The fact table of a dataset: one row per fact, partitioned by the month in the id. See ADR 071. */
function factTable(dataset: Dataset) {
  const name = factTableName(dataset)
  const columns = Object.entries(dataset.columns).map(([key, { type }]) => [
    key,
    columnTypes[type](columnName(key)),
  ])
  const own: object = Object.fromEntries(columns)
  return pgTable(
    name,
    {
      ...own,
      ...factColumns(),
    },
    ({ workspaceId, environment, createdAt, id }) => [
      index(`${name}_time_idx`).on(workspaceId, environment, createdAt, id),
    ],
  )
}

export const factIncidents = factTable(incidents)
export const factChanges = factTable(changes)
export const factProblems = factTable(problems)
export const factSlaClocks = factTable(slaClocks)
export const factRuns = factTable(runs)
export const factExecutions = factTable(executions)
export const factDeliveries = factTable(deliveries)
export const factRecords = factTable(records)
export const factEvents = factTable(events)

/** Counts the changes to a tenant's facts, in the transactions of the changes. Caches compare it. */
export const factVersions = pgTable(
  'fact_versions',
  {
    workspaceId: text('workspace_id').notNull(),
    environment: text('environment').notNull(),
    dataset: text('dataset').notNull(),
    version: bigint('version', { mode: 'number' }).notNull(),
    /** Time of the newest event in the facts. */
    newestAt: instant('newest_at').notNull(),
  },
  (table) => [
    primaryKey({
      name: 'fact_versions_pkey',
      columns: [table.workspaceId, table.environment, table.dataset],
    }),
  ],
)

const blockColumns = {
  workspaceId: text('workspace_id').notNull(),
  environment: text('environment').notNull(),
  dataset: text('dataset').notNull(),
  /** A block of level n spans 4^n quarter hours. */
  level: smallint('level').notNull(),
  /** Index of the block at its level, counted from 1970. */
  block: integer('block').notNull(),
}

export const dueMarks = dueTable({
  table: 'rollup_marks',
  key: 'id',
  dueAt: 'due_at',
  waiting: 'due_at is not null',
  fairKey: 'workspace_id',
})

/** Blocks whose facts have changed since they were last aggregated. */
export const rollupMarks = pgTable(
  'rollup_marks',
  {
    /** Tenant, dataset, level and block, joined. */
    id: text('id').primaryKey(),
    ...blockColumns,
    /** Earliest instant of the next aggregation. */
    dueAt: timestamp('due_at', { withTimezone: true, mode: 'string' }).notNull(),
    ...retryColumns(),
  },
  (table) => [
    index('rollup_marks_dataset_idx').on(table.workspaceId, table.environment, table.dataset),
    ...dueIndexes(dueMarks),
  ],
)

const groupColumns = {
  ...blockColumns,
  /** Index of the rollup in the dataset. */
  rollup: smallint('rollup').notNull(),
  /** Values of the rollup's dimensions. */
  key: text('key').array().notNull(),
}

/** Additive aggregates of the facts of a block and group, in the order the dataset declares them. */
export const rollups = pgTable(
  'rollups',
  { ...groupColumns, sums: doublePrecision('sums').array().notNull() },
  (table) => [
    primaryKey({
      name: 'rollups_pkey',
      columns: [
        table.workspaceId,
        table.environment,
        table.dataset,
        table.rollup,
        table.level,
        table.block,
        table.key,
      ],
    }),
  ],
)

/** Data for computing percentiles and distinct counts: see ADR 071. */
export const rollupSketches = pgTable(
  'rollup_sketches',
  {
    ...groupColumns,
    /** The column the sketch describes. */
    sketch: text('sketch').notNull(),
    buckets: smallint('buckets').array().notNull(),
    counts: integer('counts').array().notNull(),
  },
  (table) => [
    primaryKey({
      name: 'rollup_sketches_pkey',
      columns: [
        table.workspaceId,
        table.environment,
        table.dataset,
        table.rollup,
        table.sketch,
        table.level,
        table.block,
        table.key,
      ],
    }),
  ],
)

export const dueRebuilds = dueTable({
  table: 'fact_rebuilds',
  ofPlatform: true,
  key: 'source',
  dueAt: 'due_at',
  waiting: 'due_at is not null',
})

/** Logs the facts are rebuilt from, with the position each has been read up to. */
export const factRebuilds = pgTable(
  'fact_rebuilds',
  {
    source: text('source').primaryKey(),
    position: bigint('position', { mode: 'number' }).notNull(),
    dueAt: timestamp('due_at', { withTimezone: true, mode: 'string' }).notNull(),
    ...leaseColumns(),
  },
  () => dueIndexes(dueRebuilds),
)

export const dueFeeds = dueTable({
  table: 'fact_feeds',
  ofPlatform: true,
  key: 'dataset',
  dueAt: 'due_at',
  waiting: 'due_at is not null',
})

/** The progress of feeds, one row per dataset: see ADR 086. */
export const factFeeds = pgTable(
  'fact_feeds',
  {
    dataset: text('dataset').primaryKey(),
    /** Changes up to this position are in the facts. */
    position: bigint('position', { mode: 'number' }).notNull().default(0),
    /**
     * Everything that changed before this instant is in the facts; `null` until the end is first reached, and while the
     * facts are rebuilt.
     */
    asOf: instant('as_of'),
    dueAt: timestamp('due_at', { withTimezone: true, mode: 'string' }).notNull().defaultNow(),
    ...leaseColumns(),
  },
  () => dueIndexes(dueFeeds),
)
