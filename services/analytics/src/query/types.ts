import type {
  AnalyticsQuery,
  FactRowsQuery,
  QueryAnswer,
  ResultColumn,
  TenantScope,
} from '@opsplane/contracts'
import type { InternalIssuer } from '@opsplane/http'

/** In whose name a query is run: their present rights decide what may be asked, and row rules of tables bind. */
export interface QueryCaller {
  readonly tenant: TenantScope
  readonly userId: string
  /** What they may do by now. */
  readonly permissions: readonly string[]
  /** Signs calls to the database studio in their name; throws `forbidden` without a grant. */
  studio(): Promise<Pick<InternalIssuer, 'serviceToken'>>
}

/** What rows are opened of: the rows of a query's answer, or facts one by one. */
export type RowSource = { kind: 'query'; query: AnalyticsQuery } | { kind: 'facts'; query: FactRowsQuery }

export interface RowPage {
  /** Values in the order of the columns. */
  rows: unknown[][]
  /** Opens the rows again right behind the last one here. */
  cursor: string
}

export interface CompositePage {
  /** Rows as Postgres writes composite values, one behind the other: cells in the order of the columns. */
  composites: Uint8Array
  cursor: string
}

export interface OpenedRows {
  columns: ResultColumn[]
  /** ISO instant: everything that happened until then is in. */
  dataAsOf: string
  /** In a stable order, and in constant memory for facts. */
  pages: AsyncIterable<RowPage>
  /** The same rows in the same order, for writers that accept them; only one of the two is to be read. */
  compositePages?: AsyncIterable<CompositePage>
}

export interface QueryRunner {
  /**
   * Answers a query. Throws `validation_failed` with the field for what its source does not have, or that is not there, `insufficient_scope`
   * for what the caller may not read, and `service_unavailable`
   * where it takes too long or asks for too many groups.
   */
  runQuery(caller: QueryCaller, query: AnalyticsQuery, signal: AbortSignal): Promise<QueryAnswer>
  /** The same rules. `after`: a cursor of the same source, whose relative range was fixed to two instants before. */
  openRows(
    caller: QueryCaller,
    source: RowSource,
    options: { after?: string; signal: AbortSignal },
  ): Promise<OpenedRows>
  /** Throws what `runQuery` would throw of the query itself, without reading anything: for what is saved. */
  checkQuery(query: AnalyticsQuery | FactRowsQuery): void
}
