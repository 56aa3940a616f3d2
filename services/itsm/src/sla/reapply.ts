import type { CommandMeta, SlaReapplied, SlaTimer } from '@opsplane/contracts'
import type { BackendContext, Unit } from '@opsplane/eventstore'
import type { Clocks } from './clocks.js'
import { countOpen, outdated } from './queries.js'
import { changesAfter } from './rows.js'
import type { SlaStores } from './stores.js'
import { slaTimer, type TimerCommand } from './timer.js'

const atOnce = 1_000
const shown = 200

/**
 * Counts open clocks of older revisions anew by the present ones, from their incidents' whole history. All of them
 * change in one commit; a clock that changes meanwhile lets everything be worked out again.
 */
export function reapply(
  { database, store }: BackendContext,
  { policies, calendarOf }: SlaStores,
  { termsOf, timers }: Clocks,
  policyId: string,
  dryRun: boolean,
  { expectedVersion: _, ...meta }: CommandMeta,
): Promise<SlaReapplied> {
  const { tenant, now } = meta
  const work = async (unit: Unit): Promise<SlaReapplied> => {
    const { version: __, ...policy } = await policies.get(policyId, tenant)
    const calendar = await calendarOf(policy.calendarId, tenant)
    const terms = termsOf.present(policy, calendar)
    const found = await outdated(database.db, tenant, policyId, { policy: policy.revision, calendar }, atOnce)
    const incidents = new Map(found.timers.map(({ state }) => [state.entityId, 0]))
    const histories = await changesAfter(database.sql, incidents)
    const changes: SlaReapplied['changes'] = []
    for (const current of found.timers) {
      const { id, entityId } = current.state
      const history = histories.get(entityId) ?? []
      const what: TimerCommand = { kind: 'reapply', history, terms, now }
      const after = dryRun
        ? (slaTimer.decide(what, current.state).at(-1)?.after ?? current.state)
        : await unit.handle(timers, id, what, { current })
      changes.push({ timerId: id, entityId, before: pick(current.state), after: pick(after) })
    }
    return {
      dryRun,
      open: await countOpen(database.db, tenant, policyId),
      changed: found.count,
      applied: dryRun ? 0 : found.timers.length,
      changes: changes.slice(0, shown),
    }
  }
  return store.transact(meta, work)
}

const pick = ({ policyRevision, calendarRevision, goalMs, state, dueAt }: SlaTimer) => ({
  policyRevision,
  calendarRevision,
  goalMs,
  state,
  dueAt,
})
