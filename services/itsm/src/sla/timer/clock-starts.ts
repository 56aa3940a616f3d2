import type { SlaEntity } from '../entity/entity.js'
import type { ActivePolicy, EntityChange, StoredTimer } from './rows.js'
import { isRecurring } from './spans.js'
import { applies, findStartIndex } from './timer.js'

type Changes = ReadonlyMap<string, readonly EntityChange[]>

/** A clock a policy asks for and that is not there, with what has happened to its entity since it was looked at last. */
interface MissingClock {
  entityId: string
  active: ActivePolicy
  changes: readonly EntityChange[]
}

/** The clocks that policies could ask for and that are not there. Entities older than the policy get none. */
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

/** Whether a policy, as it is now, is for the entity these events are of. */
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

/** The entities whose earlier events decide whether a recurring span is open. */
export function findUnknownSpans(absent: readonly MissingClock[]): Map<string, number> {
  const unknown = absent.filter(
    ({ active: { policy }, changes }) =>
      isRecurring(policy.metric) &&
      changes[0]?.version !== 1 &&
      changes.some(({ entity }) => applies(policy, entity)),
  )
  return new Map(unknown.map(({ entityId }) => [entityId, 0]))
}

/** The types of events that decide it. */
export const findSpanEventTypes = (entities: readonly SlaEntity[]) =>
  entities.flatMap(({ spanEvents, eventTypes }) => spanEvents ?? eventTypes)

export interface ClockStart {
  entityId: string
  active: ActivePolicy
  /** The event with which the clock starts: the first from which on the policy applies. */
  from: EntityChange
}

/** Those of the absent clocks that start, given what earlier events said of spans. */
export function findStartingClocks(absent: readonly MissingClock[], earlier: Changes): ClockStart[] {
  return absent.flatMap(({ entityId, active, changes }) => {
    const applied = earlier.get(entityId)?.filter(({ version }) => version < (changes[0]?.version ?? 0))
    const from = changes[findStartIndex(active.policy, changes, applied)]
    return from ? [{ entityId, active, from }] : []
  })
}
