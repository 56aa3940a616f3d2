import type {
  BackendName,
  ChangePage,
  ColumnFormat,
  Permission,
  PlatformEvent,
  TenantScope,
} from '@opsplane/contracts'
import type { ServiceClient } from '@opsplane/http'
import type { z } from 'zod'

/** Integers only: unlike those of doubles, their sums are exact. */
export const factTypes = {
  text: 'text',
  integer: 'bigint',
  boolean: 'boolean',
  timestamp: 'timestamptz',
} as const
export type FactType = keyof typeof factTypes

/** A column of a fact in addition to its id, tenant, version and creation time. */
export interface FactColumn {
  label: string
  type: FactType
  format?: ColumnFormat
  /** Queries can group and filter by this column. */
  dimension?: true
}

/** SQL over the columns of the fact table; always from this code, never from a caller. */
type Sql = string

/** An aggregate function over facts. Durations are in milliseconds. */
export type Measure = { label: string; description: string; format?: ColumnFormat } & (
  | { kind: 'count'; where?: Sql }
  | { kind: 'sum' | 'average'; of: string }
  /** A share between 0 and 1: the facts for which `where` holds among those for which `of` holds. */
  | { kind: 'share'; where: Sql; of?: Sql }
  | { kind: 'distinct'; of: string }
  | { kind: 'percentile'; of: string; share: number }
)

export type FactValue = string | number | boolean | null

/** A fact derived from an event or change; only the newest version of each id counts. */
export interface Fact {
  id: string
  /** ISO instant; the same for every version of a fact. */
  createdAt: string
  values: Record<string, FactValue>
}

/** A fact with its tenant and the version that decides which of two is newer. */
export interface VersionedFact extends Fact {
  tenant: TenantScope
  version: number
  /** ISO instant of the event or change that reported this version. */
  happenedAt: string
}

/** Source of facts for a service that publishes no events for them: see ADR 086. */
export interface FactFeed {
  service: BackendName
  /**
   * Changes after a position; `next` is `null` at the end. Rejects with `ApiError` while the service is
   * unavailable.
   */
  page(client: Pick<ServiceClient, 'get'>, after: number): Promise<FactPage>
}

export interface FactPage {
  facts: VersionedFact[]
  /** Position of the last change on the page. */
  position: number
  next: number | null
}

/**
 * Declares a queryable kind of fact once: its fact table, the list of datasets, the rollups and the validation of
 * queries are derived from this.
 */
interface DatasetBase {
  name: string
  label: string
  description: string
  /** Permission required to query it. */
  permission: Permission
  columns: Readonly<Record<string, FactColumn>>
  measures: Readonly<Record<string, Measure>>
  /** Instants by which a fact can be placed in time; `createdAt` is the first. */
  timeFields: readonly string[]
  /** Combinations of dimensions that are aggregated in advance. Queries that fit none are computed from the facts. */
  rollups: readonly Rollup[]
}

export interface EventDataset extends DatasetBase {
  /** Returns `undefined` for events that contain no fact of this dataset. */
  toFact(event: PlatformEvent): Fact | undefined
}

export interface FedDataset extends DatasetBase {
  feed: FactFeed
}

export type Dataset = EventDataset | FedDataset

export const isFed = (dataset: Dataset): dataset is FedDataset => 'feed' in dataset

export interface Rollup {
  dimensions: readonly string[]
  /** Also stores the data needed for distinct counts and percentiles. */
  sketches?: true
}

export const defineDataset = <Kind extends Dataset>(dataset: Kind): Kind => dataset

/** Declares a feed of facts. The position of a change is used as the version of its fact. */
export function defineFeed<Change extends TenantScope>(declared: {
  service: BackendName
  path: string
  page: z.ZodType<ChangePage<Change>>
  toFact(change: Change): Fact & Pick<VersionedFact, 'happenedAt'>
}): FactFeed {
  const { service, path, page, toFact } = declared
  return {
    service,
    async page(client, after) {
      const { changes, next } = await client.get(`${path}?after=${after}`, page)
      const facts = changes.map(({ position, change }) => {
        const { workspaceId, environment } = change
        return { ...toFact(change), tenant: { workspaceId, environment }, version: position }
      })
      return { facts, position: changes.at(-1)?.position ?? after, next }
    },
  }
}

export const factTableName = ({ name }: Dataset) => `fact_${name}`
/** Column name in SQL: `timeToResolveMs` becomes `time_to_resolve_ms`. */
export const columnName = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** Columns that every fact has in queries and exports. */
export const baseColumns = {
  id: { label: 'Id', type: 'text' },
  createdAt: { label: 'Created', type: 'timestamp' },
} as const satisfies Record<string, FactColumn>

const dimension = (type: FactType) => (label: string) => ({ label, type, dimension: true }) as const
export const text = dimension('text')
export const flag = dimension('boolean')
export const number = (label: string): FactColumn => ({ label, type: 'integer' })
export const duration = (label: string): FactColumn => ({ label, type: 'integer', format: 'duration_ms' })
export const instant = (label: string): FactColumn => ({ label, type: 'timestamp' })

/** Milliseconds between two instants; `null` unless both are given. */
export const durationBetween = (
  from: string | null | undefined,
  to: string | null | undefined,
): number | null => (from && to ? Math.max(0, Date.parse(to) - Date.parse(from)) : null)

/** Constructors for measures, by kind. */
export const measure = {
  count: (label: string, description: string, where?: Sql): Measure => ({
    ...{ label, description, kind: 'count' },
    ...(where !== undefined && { where }),
  }),
  sum: (label: string, description: string, of: string): Measure => ({ label, description, kind: 'sum', of }),
  distinct: (label: string, description: string, of: string): Measure => ({
    ...{ label, description, kind: 'distinct', of },
  }),
  share: (label: string, description: string, where: Sql, of?: Sql): Measure => ({
    ...{ label, description, kind: 'share', format: 'percent', where },
    ...(of !== undefined && { of }),
  }),
  averageDuration: (label: string, description: string, of: string): Measure => ({
    ...{ label, description, kind: 'average', of, format: 'duration_ms' },
  }),
}

/** Percentile measures of a duration. */
export const percentiles = (of: string, label: string): Record<string, Measure> =>
  Object.fromEntries(
    [50, 90, 95, 99].map((rank) => [
      `p${rank}_${columnName(of).replace(/_ms$/, '')}`,
      {
        label: `${label}, ${rank}th percentile`,
        description: `Duration that ${rank} of 100 cases do not exceed, accurate to within 1 %.`,
        format: 'duration_ms',
        kind: 'percentile',
        of,
        share: rank / 100,
      },
    ]),
  )
