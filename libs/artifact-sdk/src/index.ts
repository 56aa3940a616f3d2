/** A value that can be written as JSON: what goes into an artifact, out of it, and to the host. */
export type Json = string | number | boolean | null | Json[] | { [key: string]: Json }

type Scalar = string | number | boolean | null

/** What a host function throws. `code` is that of the platform's error, or one of the sandbox. */
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

/** Any operation of the API by its id, with the rights of the person who installed the artifact. */
export interface ApiCall {
  /** Such as `createIncident`; one of `permissions.api`. */
  operation: string
  /** Parameters of its path. */
  params?: Record<string, Scalar>
  query?: Record<string, Json>
  body?: Json
}

export interface ApiAnswer<Data extends Json = Json> {
  status: number
  data: Data
  /** Of a list. */
  pagination?: { nextCursor: string | null; hasMore: boolean; limit: number }
}

/** An HTTP request to one of `permissions.http`. */
export interface HttpCall {
  /** GET unless given. */
  method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  url: string
  /** Handles of `secret` are filled in on the way out, for the hosts of the secret alone. */
  headers?: Record<string, string>
  query?: Record<string, Scalar>
  /** Text as it is, anything else as JSON. */
  body?: Json
  /** What is left of the artifact's own time unless given. */
  timeoutMs?: number
}

export interface HttpAnswer<Body extends Json = Json> {
  /** Of any answer: nothing is thrown for 400 and above. */
  status: number
  /** By lower-case names. */
  headers: Record<string, string>
  /** JSON where the answer says so, else text in its charset; null where it is empty. */
  body: Body
  /** Where it is neither, as an image is: `body` is base64. */
  bodyEncoding?: 'base64'
}

export interface ConnectorCall {
  /** Name of a connector; one of `permissions.connectors`. */
  connector: string
  action: string
  input?: Json
}

export interface SecretCall {
  /** One of `permissions.secrets`; with `plain`, of `permissions.secretsPlain`. */
  name: string
  /** Gives the value itself. Without, a handle that `http` fills in. */
  plain?: boolean
}

/** A record, with the columns of its table. */
export type TableRecord = { id: string; version: number } & { [column: string]: Json }

/** Conditions over columns: a value, or operators such as `{ gte: 3 }`. */
export type TableFilter = { [column: string]: Scalar | { [operator: string]: Json } }

export interface TableList {
  table: string
  action: 'list'
  filter?: TableFilter
  /** Such as `-created_at`. */
  sort?: string
  /** 50 unless given, 200 at most. */
  limit?: number
  /** `nextCursor` of the page before. */
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

/** Records of a table of `permissions.tables`. */
export interface TableFunction {
  (call: TableList): Promise<TablePage>
  (call: TableGet): Promise<TableRecord>
  (call: TableCreate): Promise<TableRecord>
  (call: TableUpdate): Promise<TableRecord>
  (call: TableDelete): Promise<null>
}

export interface PublishCall {
  /** One of `permissions.topics`. */
  topic: string
  type: string
  payload: { [name: string]: Json }
  /** An event with the key of one of the last 5 minutes on the topic is suppressed. */
  deduplicationKey?: string
}

export interface Published {
  id: string
  deduplicated: boolean
}

/** Entries of the execution's log. `console` writes to it as well. */
export interface Log {
  debug(message: string, data?: Json): void
  info(message: string, data?: Json): void
  warn(message: string, data?: Json): void
  error(message: string, data?: Json): void
}

/** Who and what has begun this execution. */
export interface Context {
  executionId: string
  artifact: { slug: string; version: number }
  trigger: {
    type: 'workflow_node' | 'scheduled_job' | 'webhook' | 'manual' | 'api'
    /** Of the run, the job or the event; null where there is none. */
    id: string | null
  }
  workspaceId: string
  environment: 'development' | 'staging' | 'production'
  /** When it began: ISO 8601 in UTC, with milliseconds. What goes by it can be tested and replayed. */
  now: string
}

/** Everything outside, as far as the artifact's permissions go. Whatever fails throws a `HostError`. */
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
 * What a validation is given: records of one table that are about to be written through the API. `Row` has the columns of the
 * table; of a new record those that were given, as defaults and what is computed are only known once it is written.
 */
export interface ValidationInput<Row extends { [column: string]: Json } = { [column: string]: Json }> {
  table: string
  operation: 'create' | 'update' | 'delete'
  /** As they would be; as they are, where they are deleted. */
  records: Row[]
  /** As they are, of an update: in the order of `records`. */
  before?: Row[]
}

export interface ValidationFault {
  /** Place in `records`. */
  index: number
  /** None where it is about the record as a whole. */
  column?: string
  /** snake_case; `refused_by_rule` unless given. */
  code?: string
  message: string
}

/** What a validation gives: the batch is written where there are no faults. It changes nothing of the records. */
export interface ValidationOutput {
  faults: ValidationFault[]
}

/** A request below `/sdk/artifacts/:id/api`, which an artifact of the kind `api` answers. */
export interface ApiRequest<Body extends Json = Json> {
  method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** What stands behind `/api`, decoded: `/` where nothing does. */
  path: string
  /** The same in its parts, in which a `/` belongs to a name. */
  segments: string[]
  query: Record<string, string | string[]>
  /** `accept`, `accept-language`, `content-type`, `user-agent`, and what `api.headers` names, as far as they were sent. */
  headers: Record<string, string>
  /** JSON and forms as values, other texts as they are; null of nothing. */
  body: Body
}

/** What such a request is answered with. */
export interface ApiResponse<Body extends Json = Json> {
  /** From 200 to 599; 200 unless given. */
  status?: number
  /**
   * `content-type`, `content-language`, `content-disposition`, `link`, `retry-after`, `location` (a path of this API),
   * and names that begin with `x-artifact-`.
   */
  headers?: Record<string, string>
  /** Text as it is, anything else as JSON; null or absent: nothing. */
  body?: Body
}

/** The function an artifact is. `Input` is what its input schema lets in. */
export type Artifact<Input = Json, Output = Json | undefined> = (
  input: Input,
  host: Host,
) => Promise<Output> | Output

/** Gives back what it is given: for the types of `input` and `host` in an editor. */
export function artifact<Input = Json, Output = Json | undefined>(
  run: Artifact<Input, Output>,
): Artifact<Input, Output> {
  return run
}
