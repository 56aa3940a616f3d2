import {
  ApiError,
  type CommandMeta,
  type Decider,
  type Decision,
  notFound,
  storedState,
  stringifyExact,
  type TenantScope,
  tenantKey,
} from '@opsplane/contracts'
import type { Aggregate } from './aggregate.js'
import type { Commit, HeadMove, ReadDependency, RowWrite } from './append/commit.js'
import { toRows, type Versioned } from './decision-rows.js'
import type { Snapshots } from './snapshots.js'

interface UnitOptions {
  /** The aggregate's tenant, if it differs from the request's. */
  tenant?: TenantScope
  /** Id of the event this command reacts to, if it differs from the request's. */
  causationId?: string
}

interface HandleOptions<State> extends UnitOptions {
  /** The aggregate as the caller has read it under a lock, which saves one query per aggregate. */
  current?: Versioned<State>
}

/** Commands to several aggregates that are committed together. Later commands see the effects of earlier ones. */
export interface Unit {
  create<State extends { id: string }, Command, Presented>(
    aggregate: Aggregate<State, Command, Presented>,
    id: string,
    command: Command,
    options?: UnitOptions,
  ): Promise<Presented>
  /** `meta.expectedVersion` is compared with the first aggregate handled in the unit. */
  handle<State extends { id: string }, Command, Presented>(
    aggregate: Aggregate<State, Command, Presented>,
    id: string,
    command: Command,
    options?: HandleOptions<State>,
  ): Promise<Presented>
  /**
   * The state within this unit; `null` if it does not exist or belongs to another tenant. A later `handle` uses the
   * state found here: a change by another writer in between is a lost race.
   */
  find<State extends { id: string }, Command, Presented>(
    aggregate: Aggregate<State, Command, Presented>,
    id: string,
    options?: UnitOptions,
  ): Promise<{ state: State; version: number } | null>
  /**
   * Declares that the decisions depend on a record that is not written: these fields, as read or found in this run
   * of the unit, must be unchanged when the unit is committed. If another writer changes them in between, the race
   * is lost; a writer that changes them later sees the decisions made here. The record must belong to the tenant.
   */
  requireUnchanged<State extends { id: string }>(
    decider: Pick<Decider<State, never, unknown>, 'table' | 'describe'>,
    id: string,
    fields: ReliedFields<State>,
  ): void
}

/** Plain values only, because the stored state is searched for them. */
type ReliedFields<State> = { [Field in keyof State]?: string | number | boolean | null }

/** The part of a unit that checks need to declare what a decision depends on. */
export type RequiresUnchanged = Pick<Unit, 'requireUnchanged'>

interface Draft {
  unit: Unit
  /** All decisions so far. */
  commit(): Commit
  /** Whether If-Match was compared with an aggregate. */
  checkedVersion(): boolean
}

interface DraftOptions {
  snapshots: Snapshots
  meta: CommandMeta
  /** Check for existence before creating: the first attempt found the id taken. */
  checkExists: boolean
  /** Creates an event id, which contains the time of this process's clock. */
  eventId: () => string
}

/** Collects the decisions of one run of a command. */
export function createDraft({ snapshots, meta, checkExists, eventId }: DraftOptions): Draft {
  const events: Commit['events'] = []
  const heads = new Map<string, HeadMove>()
  const rows = new Map<string, RowWrite>()
  const dependencies = new Map<string, { dependency: Omit<ReadDependency, 'fields'>; fields: object }>()
  const touched = new Map<string, Versioned<unknown>>()
  let checkedVersion = false

  const load = async <State extends { id: string }, Command, Presented>(
    aggregate: Aggregate<State, Command, Presented>,
    id: string,
    tenant: TenantScope,
    snapshot?: Versioned<State>,
  ): Promise<Versioned<State>> => {
    const { table } = aggregate.definition.decider
    const known = touched.get(keyOf(table, id, tenant))
    // Safe cast: it was found or decided by the same decider in this unit.
    if (known) return known as Versioned<State>
    const row = snapshot ?? (await snapshots.load(table, id, tenant))
    if (!row || row.state === null) return { state: null, version: row?.version ?? 0 }
    return { state: storedState(aggregate.definition.decider, row.state), version: row.version }
  }

  const apply = <State extends { id: string }, Command, Presented>(
    { definition }: Aggregate<State, Command, Presented>,
    id: string,
    current: Versioned<State>,
    decisions: Decision<State>[],
    tenant: TenantScope,
    causationId = meta.causationId,
  ): Presented => {
    // Individually: fields of the request's meta that are computed on first access are not accessed here.
    const { actor, now, requestId, traceparent, source = null } = meta
    const provenance = { actor, now, requestId, traceparent, source, causationId: causationId ?? null }
    const decided = toRows(definition.decider, id, current, decisions, tenant, provenance, eventId)
    events.push(...decided.events)
    if (decided.events.length > 0)
      heads.set(id, {
        ...{ streamId: id, streamType: definition.decider.table },
        ...{ workspaceId: tenant.workspaceId, environment: tenant.environment },
        expected: heads.get(id)?.expected ?? current.version,
        version: decided.result.version,
        ended: decided.result.state === null,
      })
    for (const row of decided.rows) rows.set(`${row.table}/${row.id}`, row)
    const { state, version } = decided.result
    touched.set(keyOf(definition.decider.table, id, tenant), decided.result)
    const shown = state ?? current.state
    if (shown === null) throw new Error(`${definition.decider.resourceType} ${id} was decided to be nothing`)
    return definition.present(shown, version)
  }

  const unit: Unit = {
    async create(aggregate, id, command, { tenant = meta.tenant, causationId } = {}) {
      const { table } = aggregate.definition.decider
      const version = checkExists ? await freeVersion(snapshots, table, id, tenant) : 0
      const decisions = aggregate.definition.decider.decide(command, null)
      return apply(aggregate, id, { state: null, version }, decisions, tenant, causationId)
    },
    async handle(aggregate, id, command, { tenant = meta.tenant, causationId, current: given } = {}) {
      const current = await load(aggregate, id, tenant, given)
      if (current.state === null) throw notFound()
      if (meta.expectedVersion !== undefined && !checkedVersion) {
        checkedVersion = true
        if (meta.expectedVersion !== current.version) throw preconditionFailed(current.version)
      }
      const decisions = aggregate.definition.decider.decide(command, current.state)
      return apply(aggregate, id, current, decisions, tenant, causationId)
    },
    async find(aggregate, id, { tenant = meta.tenant } = {}) {
      const { state, version } = await load(aggregate, id, tenant)
      if (state === null) return null
      touched.set(keyOf(aggregate.definition.decider.table, id, tenant), { state, version })
      return { state, version }
    },
    requireUnchanged({ table }, id, fields) {
      const { workspaceId, environment } = meta.tenant
      const known = dependencies.get(`${table}/${id}`)?.fields
      const dependency = { table, id, workspaceId, environment }
      dependencies.set(`${table}/${id}`, { dependency, fields: { ...known, ...fields } })
    },
  }

  /** Rows that are also written are protected by their version instead. */
  const currentDependencies = (): ReadDependency[] =>
    [...dependencies]
      .filter(([key]) => !rows.has(key))
      .map(([, { dependency, fields }]) => ({ ...dependency, fields: stringifyExact(fields) }))
  return {
    unit,
    commit: () => ({
      events,
      heads: [...heads.values()],
      rows: [...rows.values()],
      dependencies: events.length === 0 ? [] : currentDependencies(),
    }),
    checkedVersion: () => checkedVersion,
  }
}

const keyOf = (table: string, id: string, tenant: TenantScope) => `${tenantKey(tenant)}/${table}/${id}`

/**
 * The version a new aggregate starts after: 0, or the last version of a deleted one with the same id. The id may
 * as well be free, because the race may have been lost on another aggregate of the unit.
 */
async function freeVersion(snapshots: Snapshots, table: string, id: string, tenant: TenantScope) {
  const [row, last] = await Promise.all([
    snapshots.load(table, id, tenant),
    snapshots.lastVersion(table, id, tenant),
  ])
  if (row || (last === undefined && (await snapshots.isTaken(id))))
    throw new ApiError('conflict', 'There already is a resource with this id.')
  return last ?? 0
}

export function preconditionFailed(version?: number): ApiError {
  return new ApiError('precondition_failed', 'The resource has changed since the version in If-Match.', {
    details: [
      {
        in: 'header',
        path: '/If-Match',
        code: 'stale_version',
        message: 'Read the resource again and decide on its present version.',
        ...(version === undefined ? {} : { params: { version } }),
      },
    ],
  })
}
