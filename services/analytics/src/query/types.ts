import type {
  AnalyticsQuery,
  FactRowsQuery,
  QueryAnswer,
  ResultColumn,
  TenantScope,
} from '@opsplane/contracts'
import type { InternalIssuer } from '@opsplane/http'

/**
 * The person on whose behalf a query runs: their current rights decide what may be queried, and row rules of tables
 * apply.
 */
export interface QueryCaller {
  readonly tenant: TenantScope
  readonly userId: string
  /** Their current permissions. */
  readonly permissions: readonly string[]
  /** Issues tokens for calls to the database studio on their behalf. Throws `forbidden` without a grant. */
  studio(): Promise<Pick<InternalIssuer, 'serviceToken'>>
}

/** The source of a row stream: the rows of a query's answer, or individual facts. */
export type RowSource = { kind: 'query'; query: AnalyticsQuery } | { kind: 'facts'; query: FactRowsQuery }

export interface RowPage {
  /** Values in the order of the columns. */
  rows: unknown[][]
  /** Cursor that continues after the last row of this page. */
  cursor: string
}

export interface CompositePage {
  /** Consecutive rows in the Postgres composite format; cells in the order of the columns. */
  composites: Uint8Array
  cursor: string
}

export interface OpenedRows {
  columns: ResultColumn[]
  /** ISO instant: everything that happened up to it is included. */
  dataAsOf: string
  /** In a stable order, and in constant memory for facts. */
  pages: AsyncIterable<RowPage>
  /** The same rows in the same order, for writers that support it. Only one of the two may be read. */
  compositePages?: AsyncIterable<CompositePage>
}

export interface QueryRunner {
  /**
   * Answers a query. Throws `validation_failed` with the field if the source does not exist or lacks the field,
   * `insufficient_scope` if the caller may not read it, and `service_unavailable` if the query takes too long or has
   * too many groups.
   */
  runQuery(caller: QueryCaller, query: AnalyticsQuery, signal: AbortSignal): Promise<QueryAnswer>
  /**
   * Same rules as `runQuery`. `after`: a cursor of the same source, with relative ranges already resolved to two
   * instants.
   */
  openRows(
    caller: QueryCaller,
    source: RowSource,
    options: { after?: string; signal: AbortSignal },
  ): Promise<OpenedRows>
  /** Validates a query that is to be saved: throws the errors of `runQuery` that need no data. */
  checkQuery(query: AnalyticsQuery | FactRowsQuery): void
}
