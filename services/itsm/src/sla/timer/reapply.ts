import type { SlaReapplied, SlaTimer } from '@opsplane/contracts'
import type { RequestMeta } from '@opsplane/http'
import type { ServiceContext } from '@opsplane/service'
import { slaEntities } from '../entity/entities.js'
import { filterVisible } from '../entity/visibility.js'
import { getEntity } from '../policy/policy-lint.js'
import type { Clocks } from './clocks.js'
import { countClocks, outdatedTimers, type PresentPolicy } from './outdated.js'
import { appliedVersions, readChangesAfter, type StatementRunner, type StoredTimer } from './rows.js'
import type { SlaStores } from './stores.js'
import { slaTimer, type TimerCommand } from './timer.js'

/** Maximum number of clocks changed by one request. */
const maxPerRequest = 1_000
/** Number of clocks per commit. While they are locked, events of their entities wait. */
const maxPerCommit = 100
const maxShown = 200

export interface ReapplyOptions {
  policyId: string
  dryRun: boolean
  meta: RequestMeta
}

/**
 * Recomputes the open clocks of older revisions with the current policy and calendar, from the events they have already
 * applied; later events take effect when they are applied. Commits in batches of locked clocks, so it neither loses
 * races nor blocks others for long. Clocks locked by another transaction are left for the next request. An interrupted
 * request has changed only a part of the clocks.
 */
export async function reapply(
  { database, store }: ServiceContext,
  { policies, findCalendar }: SlaStores,
  { pinnedPolicies, timers }: Clocks,
  { policyId, dryRun, meta: { expectedVersion: _, ...meta } }: ReapplyOptions,
): Promise<SlaReapplied> {
  const { version: __, ...policy } = await policies.get(policyId, meta.tenant)
  const calendar = await findCalendar(policy.calendarId, meta.tenant)
  const present: PresentPolicy = { tenant: meta.tenant, policy, calendar }
  const terms = pinnedPolicies.present(policy, calendar)

  const commands = async (sql: StatementRunner, found: readonly StoredTimer[]) => {
    const versions = new Map(found.map(({ state }) => [state.entityId, 0]))
    const histories = await readChangesAfter(sql, slaEntities, versions)
    const applied = await appliedVersions(sql, [...versions.keys()])
    return found.map((current) => {
      const { entityId } = current.state
      const last = applied.get(entityId) ?? 0
      const history = (histories.get(entityId) ?? []).filter(({ version }) => version <= last)
      const what: TimerCommand = { kind: 'reapply', history, terms, now: meta.now }
      return { current, what }
    })
  }
  const tried = async (after: string): Promise<Changed[]> => {
    const found = await outdatedTimers(database.sql, present, { after, limit: maxPerCommit, locked: false })
    return (await commands(database.sql, found)).map(({ current: { state }, what }) => ({
      before: state,
      after: slaTimer.decide(what, state).at(-1)?.after ?? state,
    }))
  }
  const applied = (after: string): Promise<Changed[]> =>
    database.sql.begin(async (tx) => {
      const found = await outdatedTimers(tx, present, { after, limit: maxPerCommit, locked: true })
      const timerCommands = await commands(tx, found)
      return store.within(tx, meta, async (unit) => {
        const changed: Changed[] = []
        for (const { current, what } of timerCommands) {
          const { state } = current
          changed.push({ before: state, after: await unit.handle(timers, state.id, what, { current }) })
        }
        return changed
      })
    })

  const before = await countClocks(database.sql, present)
  const total = Math.min(before.outdated, dryRun ? maxShown : maxPerRequest)
  const changed: Changed[] = []
  while (changed.length < total) {
    const after = changed.at(-1)?.before.id ?? ''
    const piece = await (dryRun ? tried(after) : applied(after))
    if (piece.length === 0) break
    changed.push(...piece)
  }
  const reported = changed.slice(0, maxShown)
  const ids = reported.map(({ before: { entityId } }) => entityId)
  const visible = await filterVisible(database.db, getEntity(policy.entityType), ids, meta)
  const left = dryRun ? before : await countClocks(database.sql, present)
  const answer = {
    dryRun,
    open: left.open,
    changed: before.outdated,
    applied: dryRun ? 0 : changed.length,
    remaining: left.outdated,
    changes: reported.filter(({ before: { entityId } }) => visible.has(entityId)).map(toChange),
  }
  // Decides nothing further; stores the answer for the request's Idempotency-Key.
  return store.transact(meta, async () => answer)
}

interface Changed {
  before: SlaTimer
  after: SlaTimer
}

const toChange = ({ before, after }: Changed): SlaReapplied['changes'][number] => ({
  timerId: before.id,
  entityId: before.entityId,
  before: pick(before),
  after: pick(after),
})

const pick = ({ policyRevision, calendarRevision, goalUnit, goalMs, state, dueAt }: SlaTimer) => ({
  policyRevision,
  calendarRevision,
  goalUnit,
  goalMs,
  state,
  dueAt,
})
