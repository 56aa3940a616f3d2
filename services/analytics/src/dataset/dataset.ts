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

/** Whole numbers alone: their sums are exact, which those of doubles are not. */
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
  /** Rows can be distinguished by it. */
  dimension?: true
}

/** SQL over the columns of the fact table, written here and never by a caller. */
type Sql = string

/** What is counted. A duration is measured in milliseconds. */
export type Measure = { label: string; description: string; format?: ColumnFormat } & (
  | { kind: 'count'; where?: Sql }
  | { kind: 'sum' | 'average'; of: string }
  /** A share of 1: of the facts for which `of` holds, those for which `where` does. */
  | { kind: 'share'; where: Sql; of?: Sql }
  | { kind: 'distinct'; of: string }
  | { kind: 'percentile'; of: string; share: number }
)

export type FactValue = string | number | boolean | null

/** What an event or a change tells: the newest of each id counts. */
export interface Fact {
  id: string
  /** ISO instant; the same for every version of a fact. */
  createdAt: string
  values: Record<string, FactValue>
}

/** A fact with whose it is, and what it is newer than. */
export interface VersionedFact extends Fact {
  tenant: TenantScope
  version: number
  /** ISO instant of what it was reported by. */
  happenedAt: string
}

/** What a service tells that publishes no events of it: see ADR 086. */
export interface FactFeed {
  service: BackendName
  /** What has changed since a position; `next` is null at the end. Rejects with ApiError while the service is away. */
  page(client: Pick<ServiceClient, 'get'>, after: number): Promise<FactPage>
}

export interface FactPage {
  facts: VersionedFact[]
  /** Up to where it goes. */
  position: number
  next: number | null
}

/**
 * What can be asked about one kind of fact, declared once: the table of its facts, the list of datasets, the rollups and
 * the check of every query follow from it.
 */
interface DatasetBase {
  name: string
  label: string
  description: string
  /** Who may ask. */
  permission: Permission
  columns: Readonly<Record<string, FactColumn>>
  measures: Readonly<Record<string, Measure>>
  /** Instants that a fact may be counted at; `createdAt` is the first. */
  timeFields: readonly string[]
  /** Combinations of dimensions that are added up in advance; what fits none is counted from the facts. */
  rollups: readonly Rollup[]
}

export interface EventDataset extends DatasetBase {
  /** Undefined for events that tell nothing about it. */
  toFact(event: PlatformEvent): Fact | undefined
}

export interface FedDataset extends DatasetBase {
  feed: FactFeed
}

export type Dataset = EventDataset | FedDataset

export const isFed = (dataset: Dataset): dataset is FedDataset => 'feed' in dataset

export interface Rollup {
  dimensions: readonly string[]
  /** Keeps what distinct counts and percentiles take as well. */
  sketches?: true
}

export const defineDataset = <Kind extends Dataset>(dataset: Kind): Kind => dataset

/** The position of a change is the version of what it tells. */
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
/** `timeToResolveMs` is `time_to_resolve_ms` in SQL. */
export const columnName = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** Columns every fact has, as a query and an export see them. */
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

/** Milliseconds between two instants; null unless there are both. */
export const durationBetween = (
  from: string | null | undefined,
  to: string | null | undefined,
): number | null => (from && to ? Math.max(0, Date.parse(to) - Date.parse(from)) : null)

/** What is counted, by its kind. */
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

/** Percentiles of a duration, as measures. */
export const percentiles = (of: string, label: string): Record<string, Measure> =>
  Object.fromEntries(
    [50, 90, 95, 99].map((rank) => [
      `p${rank}_${columnName(of).replace(/_ms$/, '')}`,
      {
        label: `${label}, ${rank}th percentile`,
        description: `${rank} of 100 took at most so long, to within 1 %.`,
        format: 'duration_ms',
        kind: 'percentile',
        of,
        share: rank / 100,
      },
    ]),
  )
