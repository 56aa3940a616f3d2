import {
  type Filter,
  filterMatches,
  type HoldReason,
  invalidField,
  type Severity,
  type SlaEscalation,
  type SlaPolicyState,
  severities,
} from '@opsplane/contracts'
import { isMoreSevere } from '../../incident/escalate-levels.js'
import type { SlaEntity } from '../entity/entity.js'

/** The status that has hold reasons. */
const onHoldStatus = 'on_hold'

/**
 * Throws validation_failed for a policy whose parts contradict each other: its timers would never start, never run, or
 * be canceled by a pause or an escalation. An inactive policy is not checked until it is activated.
 */
export function checkTraps(policy: SlaPolicyState, entity: SlaEntity): void {
  if (policy.status === 'inactive') return
  const { metric, conditions, pauseReasons, pauseStatuses } = policy
  const countingStatuses = entity.metrics[metric] ?? []
  const running = countingStatuses.filter((status) => allows(conditions, { status }))
  if (running.length === 0)
    throw invalidField(
      '/conditions/status',
      'never_starts',
      `A timer of ${metric} does not count in these statuses; it counts in ${countingStatuses.join(', ')}.`,
    )
  if (running.every((status) => pauseStatuses.includes(status)))
    throw invalidField(
      '/pauseStatuses',
      'never_runs',
      `The timer would be paused whenever it counts, which is in ${running.join(', ')}.`,
    )
  const canceling = pauseStatuses.findIndex(
    (status) =>
      countingStatuses.includes(status) && isStatus(entity, status) && !allows(conditions, { status }),
  )
  if (canceling >= 0) throw cancels(`/pauseStatuses/${canceling}`)
  checkReasons(conditions, countingStatuses.includes(onHoldStatus) ? pauseReasons : [])
  for (const [index, rule] of policy.escalations.entries()) checkRule(rule, policy, `/escalations/${index}`)
}

/** Whether the status is a real one. A change on hold keeps its status, so no condition can exclude `on_hold`. */
function isStatus({ record }: SlaEntity, status: string): boolean {
  return record.shape.status?.safeParse(status).success === true
}

/**
 * A hold that the conditions exclude cancels the clock instead
 * of pausing it, because the conditions do not match meanwhile.
 */
function checkReasons(conditions: Filter, pauseReasons: readonly HoldReason[]): void {
  const canceling = pauseReasons.findIndex(
    (holdReason) => !allows(conditions, { status: onHoldStatus, holdReason }),
  )
  if (canceling >= 0) throw cancels(`/pauseReasons/${canceling}`)
}

/**
 * After a rule has changed the incident, the policy may have no goal for it or its conditions may not match. The rule
 * would then cancel its own timer.
 */
function checkRule(
  { severity, assignmentGroup, assigneeId }: SlaEscalation,
  { goals, goalsBy, conditions }: SlaPolicyState,
  path: string,
): void {
  const coversSeverity = (value: Severity) =>
    (goalsBy !== 'severity' || goals[value] !== undefined) && allows(conditions, { severity: value })
  const raised = severities.some((from) => severity && isMoreSevere(severity, from) && coversSeverity(from))
  if (severity !== undefined && raised && !coversSeverity(severity)) throw endsClock(`${path}/severity`)
  for (const [field, value] of Object.entries({ assignmentGroup, assigneeId }))
    if (value !== undefined && !allows(conditions, { [field]: value })) throw endsClock(`${path}/${field}`)
}

const endsClock = (path: string) =>
  invalidField(
    path,
    'cancels',
    'The policy has no goal for such an incident, or its conditions do not hold, so that the timer would be canceled. Widen the policy, or leave this out.',
  )

const cancels = (path: string) =>
  invalidField(
    path,
    'cancels',
    'The conditions do not hold then, so that the timer would be canceled instead of paused. Widen the conditions, or leave this out.',
  )

/** Whether the conditions on these fields, if any, match their values. */
function allows(conditions: Filter, values: Readonly<Record<string, string>>): boolean {
  const about = Object.entries(conditions).filter(([path]) => Object.hasOwn(values, path))
  return filterMatches(Object.fromEntries(about), values)
}
