import {
  type Filter,
  filterMatches,
  type HoldReason,
  invalidField,
  type SlaPolicyState,
} from '@opsplane/contracts'
import type { SlaEntity } from './entity.js'

/** The status that hold reasons go with. */
const held = 'on_hold'

/**
 * Throws validation_failed for a policy whose parts undo each other: its clocks would never begin, never run, or be
 * canceled by what is to pause them. One that is inactive may be so until it is switched on.
 */
export function checkTraps(policy: SlaPolicyState, entity: SlaEntity): void {
  if (policy.status === 'inactive') return
  const { metric, conditions, pauseReasons, pauseStatuses } = policy
  const counted = entity.metrics[metric] ?? []
  const running = counted.filter((status) => allows(conditions, { status }))
  if (running.length === 0)
    throw invalidField(
      '/conditions/status',
      'never_starts',
      `A clock of ${metric} does not count in these statuses; it counts in ${counted.join(', ')}.`,
    )
  if (running.every((status) => pauseStatuses.includes(status)))
    throw invalidField(
      '/pauseStatuses',
      'never_runs',
      `The clock would be paused whenever it counts, which is in ${running.join(', ')}.`,
    )
  const canceling = pauseStatuses.findIndex(
    (status) => counted.includes(status) && isStatus(entity, status) && !allows(conditions, { status }),
  )
  if (canceling >= 0) throw cancels(`/pauseStatuses/${canceling}`)
  checkReasons(conditions, counted.includes(held) ? pauseReasons : [])
}

/** A change on hold keeps its status, so that no condition can rule that out. */
function isStatus({ record }: SlaEntity, status: string): boolean {
  return record.shape.status?.safeParse(status).success === true
}

/** A hold that the conditions rule out cancels the clock, as they do not hold meanwhile. */
function checkReasons(conditions: Filter, pauseReasons: readonly HoldReason[]): void {
  const canceling = pauseReasons.findIndex((holdReason) => !allows(conditions, { status: held, holdReason }))
  if (canceling >= 0) throw cancels(`/pauseReasons/${canceling}`)
}

const cancels = (path: string) =>
  invalidField(
    path,
    'cancels',
    'The conditions do not hold then, so that the clock would be canceled instead of paused. Widen the conditions, or leave this out.',
  )

/** Whether the conditions on these fields, if there are any, hold for their values. */
function allows(conditions: Filter, values: Readonly<Record<string, string>>): boolean {
  const about = Object.entries(conditions).filter(([path]) => Object.hasOwn(values, path))
  return filterMatches(Object.fromEntries(about), values)
}
