import { invalidField, newId, type SlaPreview, type SlaTimer } from '@opsplane/contracts'
import type { RequestMeta } from '@opsplane/http'
import type { ServiceContext } from '@opsplane/service'
import { isVisible } from '../entity/visibility.js'
import type { Clocks } from '../timer/clocks.js'
import { findEntityId, readChangesAfter } from '../timer/rows.js'
import { isRecurring, sinceLastSpan } from '../timer/spans.js'
import type { SlaStores } from '../timer/stores.js'
import {
  applies,
  type Change,
  findGoal,
  findStartIndex,
  type PinnedPolicy,
  slaTimer,
  type TimerCommand,
} from '../timer/timer.js'
import { explainTimer } from './explain-routes.js'
import { getEntity } from './policy-lint.js'

export interface PreviewOptions {
  policyId: string
  /** An id, or a number such as `INC-12`. */
  reference: string
  meta: RequestMeta
}

/**
 * Returns the clock that an entity would have now if the current revision of the policy had been active since the
 * entity's creation. Stores nothing.
 */
export async function preview(
  { database }: ServiceContext,
  { policies, findCalendar }: SlaStores,
  { pinnedPolicies }: Clocks,
  { policyId, reference, meta }: PreviewOptions,
): Promise<SlaPreview> {
  const { tenant, now } = meta
  const { version: _, ...policy } = await policies.get(policyId, tenant)
  const terms = pinnedPolicies.present(policy, await findCalendar(policy.calendarId, tenant))
  const kind = getEntity(policy.entityType)
  const id = await findEntityId(database.sql, kind, reference, tenant)
  if (id === undefined || !(await isVisible(database.db, kind, id, meta)))
    throw invalidField('/entityId', 'not_found', `There is no such ${policy.entityType}.`)
  const history = (await readChangesAfter(database.sql, [kind], new Map([[id, 0]]))).get(id) ?? []
  const timer = replayTimer(newId('slaTimer'), history, terms, now)
  if (timer === null)
    return { asOf: now, entityId: id, applies: false, reason: findReason(history, terms), clock: null }
  const { id: __, ...clock } = explainTimer(timer, terms, now)
  return { asOf: now, entityId: id, applies: true, reason: null, clock }
}

/** Replays events and sweeps up to now and returns the resulting clock; `null` if none would have started. */
export function replayTimer(
  id: string,
  history: readonly Change[],
  terms: PinnedPolicy,
  now: string,
): SlaTimer | null {
  const from = findStartIndex(terms.policy, history)
  if (from < 0) return null
  const commands: TimerCommand[] = [
    { kind: 'start', id, history: history.slice(0, from + 1), terms, now },
    ...history
      .slice(from + 1)
      .map((change) => ({ kind: 'apply' as const, change, terms, nextTerms: terms, now })),
    { kind: 'fire', until: now, terms, now },
  ]
  return commands.reduce<SlaTimer | null>(
    (state, command) => slaTimer.decide(command, state).at(-1)?.after ?? state,
    null,
  )
}

function findReason(history: readonly Change[], { policy }: PinnedPolicy): SlaPreview['reason'] {
  const latest = history.at(-1)
  if (latest && findGoal(policy, latest.entity) === undefined) return 'no_goal'
  if (isRecurring(policy.metric) && sinceLastSpan(policy.metric, history).length === 0) return 'not_begun'
  return latest && applies(policy, latest.entity) ? 'ended' : 'conditions'
}
