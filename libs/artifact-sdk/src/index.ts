/** A JSON value: the type of inputs, outputs and host calls of an artifact. */
export type Json = string | number | boolean | null | Json[] | { [key: string]: Json }

type Scalar = string | number | boolean | null

/** Thrown by host functions. `code` is an error code of the platform or of the sandbox. */
export class HostError extends Error {
  override readonly name = 'HostError'
  readonly code: string
  readonly details: Json

  constructor({ code, message, details = null }: { code: string; message: string; details?: Json }) {
    super(message)
    this.code = code
    this.details = details
  }
}

/** Calls any API operation by its id, with the rights of the person who installed the artifact. */
export interface ApiCall {
  /** Operation id, such as `createIncident`; must be listed in `permissions.api`. */
  operation: string
  /** Path parameters. */
  params?: Record<string, Scalar>
  query?: Record<string, Json>
  body?: Json
}

export interface ApiAnswer<Data extends Json = Json> {
  status: number
  data: Data
  /** Present for lists. */
  pagination?: { nextCursor: string | null; hasMore: boolean; limit: number }
}

/** An HTTP request to a host of `permissions.http`. */
export interface HttpCall {
  /** Defaults to GET. */
  method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  url: string
  /** Handles from `secret` are replaced by their values when the request is sent, only for the hosts allowed for the secret. */
  headers?: Record<string, string>
  query?: Record<string, Scalar>
  /** A string is sent unchanged, any other value as JSON. */
  body?: Json
  /** In milliseconds; defaults to the remaining time of the artifact. */
  timeoutMs?: number
}

export interface HttpAnswer<Body extends Json = Json> {
  /** Status of the response: statuses of 400 and above do not throw. */
  status: number
  /** Names are in lower case. */
  headers: Record<string, string>
  /** Parsed if the response is JSON, otherwise text in its charset; `null` if it is empty. */
  body: Body
  /** Set if the body is neither JSON nor text, for example an image; `body` is then base64. */
  bodyEncoding?: 'base64'
}

export interface ConnectorCall {
  /** Name of a connector; must be listed in `permissions.connectors`. */
  connector: string
  action: string
  input?: Json
}

export interface SecretCall {
  /** Must be listed in `permissions.secrets`, or with `plain` in `permissions.secretsPlain`. */
  name: string
  /** Returns the value itself. Otherwise a handle is returned that `http` replaces by the value. */
  plain?: boolean
}

/** A record with the columns of its table. */
export type TableRecord = { id: string; version: number } & { [column: string]: Json }

/** Conditions by column: a value, or operators such as `{ gte: 3 }`. */
export type TableFilter = { [column: string]: Scalar | { [operator: string]: Json } }

export interface TableList {
  table: string
  action: 'list'
  filter?: TableFilter
  /** Column to sort by, such as `-created_at` (descending). */
  sort?: string
  /** Defaults to 50; maximum 200. */
  limit?: number
  /** `nextCursor` of the previous page. */
  after?: string
}
export interface TableGet {
  table: string
  action: 'get'
  id: string
}
export interface TableCreate {
  table: string
  action: 'create'
  record: { [column: string]: Json }
}
export interface TableUpdate {
  table: string
  action: 'update'
  id: string
  record: { [column: string]: Json }
}
export interface TableDelete {
  table: string
  action: 'delete'
  id: string
}

export interface TablePage {
  records: TableRecord[]
  nextCursor: string | null
}

/** Operations on the records of a table listed in `permissions.tables`. */
export interface TableFunction {
  (call: TableList): Promise<TablePage>
  (call: TableGet): Promise<TableRecord>
  (call: TableCreate): Promise<TableRecord>
  (call: TableUpdate): Promise<TableRecord>
  (call: TableDelete): Promise<null>
}

export interface PublishCall {
  /** Must be listed in `permissions.topics`. */
  topic: string
  type: string
  payload: { [name: string]: Json }
  /** The event is suppressed if an event of the last 5 minutes on the topic has the same key. */
  deduplicationKey?: string
}

export interface Published {
  id: string
  deduplicated: boolean
}

/** Writes entries to the execution's log; `console` writes there as well. */
export interface Log {
  debug(message: string, data?: Json): void
  info(message: string, data?: Json): void
  warn(message: string, data?: Json): void
  error(message: string, data?: Json): void
}

/** Who or what started this execution. */
export interface Context {
  executionId: string
  artifact: { slug: string; version: number }
  trigger: {
    type: 'workflow_node' | 'scheduled_job' | 'webhook' | 'manual' | 'api'
    /** Id of the run, job or event; `null` if there is none. */
    id: string | null
  }
  workspaceId: string
  environment: 'development' | 'staging' | 'production'
  /** Start time: ISO 8601 in UTC, with milliseconds. Code that uses it instead of the clock can be tested and replayed. */
  now: string
}

/** All access to the outside, limited by the artifact's permissions. Every failure throws a `HostError`. */
export interface Host {
  api<Data extends Json = Json>(call: ApiCall): Promise<ApiAnswer<Data>>
  http<Body extends Json = Json>(call: HttpCall): Promise<HttpAnswer<Body>>
  connector<Output extends Json = Json>(call: ConnectorCall): Promise<Output>
  secret(call: SecretCall): Promise<string>
  table: TableFunction
  publish(call: PublishCall): Promise<Published>
  readonly log: Log
  readonly context: Context
}

/**
 * Input of a validation: records of one table that are about to be written through the API. `Row` contains the columns
 * of the table; for a new record only those given, because defaults and computed columns are only known after the write.
 */
export interface ValidationInput<Row extends { [column: string]: Json } = { [column: string]: Json }> {
  table: string
  operation: 'create' | 'update' | 'delete'
  /** The records after the write; for a delete, the current records. */
  records: Row[]
  /** For an update, the current records, in the order of `records`. */
  before?: Row[]
}

export interface ValidationFault {
  /** Index in `records`. */
  index: number
  /** Absent if the fault concerns the record as a whole. */
  column?: string
  /** In snake_case; defaults to `refused_by_rule`. */
  code?: string
  message: string
}

/** Output of a validation: the batch is written if there are no faults. A validation cannot change the records. */
export interface ValidationOutput {
  faults: ValidationFault[]
}

/** A request below `/sdk/artifacts/:id/api` to an artifact of the kind `api`. */
export interface ApiRequest<Body extends Json = Json> {
  method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Decoded path after `/api`; `/` if it is empty. */
  path: string
  /** Segments of the path, each decoded separately: a `/` within a segment is part of its name. */
  segments: string[]
  query: Record<string, string | string[]>
  /** `accept`, `accept-language`, `content-type`, `user-agent`, and the headers of `api.headers`, if they were sent. */
  headers: Record<string, string>
  /** Parsed for JSON and forms, otherwise text; `null` if there is no body. */
  body: Body
}

/** Response to an `ApiRequest`. */
export interface ApiResponse<Body extends Json = Json> {
  /** From 200 to 599; defaults to 200. */
  status?: number
  /**
   * Allowed: `content-type`, `content-language`, `content-disposition`, `link`, `retry-after`, `location` (a path of this
   * API), and names that begin with `x-artifact-`.
   */
  headers?: Record<string, string>
  /** A string is sent unchanged, any other value as JSON; `null` or absent sends no body. */
  body?: Body
}

/** The main function of an artifact. `Input` is the type that its input schema accepts. */
export type Artifact<Input = Json, Output = Json | undefined> = (
  input: Input,
  host: Host,
) => Promise<Output> | Output

/** Returns its argument; lets an editor infer the types of `input` and `host`. */
export function artifact<Input = Json, Output = Json | undefined>(
  run: Artifact<Input, Output>,
): Artifact<Input, Output> {
  return run
}
