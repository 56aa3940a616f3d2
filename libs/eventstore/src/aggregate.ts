import type { CommandMeta, Decider, Instant, TenantScope } from '@opsplane/contracts'

/** What a read-model row is for lists: the state and the store's version. */
interface StoredRow<State> {
  state: State
  version: number
}

/** How one kind of aggregate decides and is shown. */
interface AggregateDefinition<State extends { id: string }, Command, Presented> {
  decider: Decider<State, Command, unknown>
  present(state: State, version: number): Presented
}

/**
 * One kind of aggregate, ready to take commands. Ids are unique over all kinds of aggregates of a service.
 * Every method answers another tenant's id like an absent one: `not_found`.
 */
export interface Aggregate<State extends { id: string }, Command, Presented> {
  readonly definition: AggregateDefinition<State, Command, Presented>
  /** Decides on nothing, without loading; `id` is new. An id that exists already is a `conflict`. */
  create(id: string, command: Command, meta: CommandMeta): Promise<Presented>
  /**
   * Load, decide, commit. A stale `meta.expectedVersion` is `precondition_failed`; a race lost to another
   * writer is decided again up to 3 times, then `version_conflict`.
   */
  handle(id: string, command: Command, meta: CommandMeta): Promise<Presented>
  get(id: string, tenant: TenantScope): Promise<Presented>
  /** As it is, or as it was at an instant, read from its events; null where it is, or was, not there. */
  find(id: string, tenant: TenantScope, instant?: Instant): Promise<StoredRow<State> | null>
  /**
   * As it was at an instant, read from its events; as it is without one. `not_found` before its creation and
   * after its deletion.
   */
  asOf(id: string, tenant: TenantScope, instant: Instant | undefined): Promise<Presented>
  /** For lists, whose rows are read elsewhere. */
  present(row: { state: Record<string, unknown>; version: number }): Presented
}
