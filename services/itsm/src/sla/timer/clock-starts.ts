import type { SlaEntity } from '../entity/entity.js'
import type { ActivePolicy, EntityChange, StoredTimer } from './rows.js'
import { isRecurring } from './spans.js'
import { applies, findStartIndex } from './timer.js'

type Changes = ReadonlyMap<string, readonly EntityChange[]>

/** A clock that a policy may require and that does not exist, with the events of its entity since the last check. */
interface MissingClock {
  entityId: string
  active: ActivePolicy
  changes: readonly EntityChange[]
}

/**
 * Returns the clocks that policies may require and that do not
 * exist. Entities older than the policy's activation get none.
 */
export function findMissingClocks(
  policies: readonly ActivePolicy[],
  known: readonly StoredTimer[],
  changes: Changes,
): MissingClock[] {
  const kept = new Set(known.map(({ state }) => `${state.entityId}/${state.policyId}`))
  return [...changes].flatMap(([entityId, list]) =>
    policies
      .filter((active) => isForEntity(active, list) && !kept.has(`${entityId}/${active.policy.id}`))
      .map((active) => ({ entityId, active, changes: list })),
  )
}

/** Whether the current revision of a policy covers the entity of these events. */
export function isForEntity({ policy, tenant }: ActivePolicy, [event]: readonly EntityChange[]): boolean {
  return (
    event !== undefined &&
    event.tenant.workspaceId === tenant.workspaceId &&
    event.tenant.environment === tenant.environment &&
    event.entityType === policy.entityType &&
    policy.activeSince !== null &&
    event.entity.createdAt >= policy.activeSince
  )
}

/** Returns the entities whose earlier events decide whether a recurring span is open, each mapped to version 0. */
export function findUnknownSpans(absent: readonly MissingClock[]): Map<string, number> {
  const unknown = absent.filter(
    ({ active: { policy }, changes }) =>
      isRecurring(policy.metric) &&
      changes[0]?.version !== 1 &&
      changes.some(({ entity }) => applies(policy, entity)),
  )
  return new Map(unknown.map(({ entityId }) => [entityId, 0]))
}

/** Returns the types of events that decide whether a recurring span is open. */
export const findSpanEventTypes = (entities: readonly SlaEntity[]) =>
  entities.flatMap(({ spanEvents, eventTypes }) => spanEvents ?? eventTypes)

export interface ClockStart {
  entityId: string
  active: ActivePolicy
  /** The event with which the clock starts: the first one from which the policy applies. */
  from: EntityChange
}

/** Returns the missing clocks that start, considering the effect of earlier events on recurring spans. */
export function findStartingClocks(absent: readonly MissingClock[], earlier: Changes): ClockStart[] {
  return absent.flatMap(({ entityId, active, changes }) => {
    const applied = earlier.get(entityId)?.filter(({ version }) => version < (changes[0]?.version ?? 0))
    const from = changes[findStartIndex(active.policy, changes, applied)]
    return from ? [{ entityId, active, from }] : []
  })
}
