import type { CommandMeta, Decider, Instant, TenantScope } from '@opsplane/contracts'

/** A read-model row as lists return it: the state and the version the store assigned. */
interface StoredRow<State> {
  state: State
  version: number
}

/** Decision function and API representation of one aggregate type. */
interface AggregateDefinition<State extends { id: string }, Command, Presented> {
  decider: Decider<State, Command, unknown>
  present(state: State, version: number): Presented
}

/**
 * One aggregate type, ready to accept commands. Ids are unique across all aggregate types of a service.
 * Every method treats an id of another tenant like one that does not exist: `not_found`.
 */
export interface Aggregate<State extends { id: string }, Command, Presented> {
  readonly definition: AggregateDefinition<State, Command, Presented>
  /**
   * Decides without a current state, so nothing is loaded; `id` must be new. Fails with `conflict` if the id already
   * exists.
   */
  create(id: string, command: Command, meta: CommandMeta): Promise<Presented>
  /**
   * Loads the aggregate, decides and commits. Fails with `precondition_failed` if `meta.expectedVersion` is stale;
   * retries a lost race up to 3 times, then fails with `version_conflict`.
   */
  handle(id: string, command: Command, meta: CommandMeta): Promise<Presented>
  get(id: string, tenant: TenantScope): Promise<Presented>
  /**
   * The current state, or the state at `instant`, folded from the events; `null` if the aggregate does not exist
   * (then).
   */
  find(id: string, tenant: TenantScope, instant?: Instant): Promise<StoredRow<State> | null>
  /**
   * The representation at `instant`, folded from the events, or the current one without `instant`. Fails with
   * `not_found` before the aggregate's creation and after its deletion.
   */
  asOf(id: string, tenant: TenantScope, instant: Instant | undefined): Promise<Presented>
  /** Presents a row that was read elsewhere, such as in a list. */
  present(row: { state: Record<string, unknown>; version: number }): Presented
}
