import {
  invalidField,
  type SlaCalendarState,
  type SlaEntityType,
  type SlaPolicyState,
  slaGoalKeys,
} from '@opsplane/contracts'
import { aroundTheClock, createCalendar } from './calendar.js'
import { entityOf } from './entities.js'
import type { SlaEntity } from './entity.js'
import { yearMs } from './lint.js'

/** The kind of entity a policy is for. Throws validation_failed when no clocks run over it. */
export function entityFor(type: SlaEntityType): SlaEntity {
  const entity = entityOf(type)
  if (!entity) throw invalidField('/entityType', 'no_clocks', 'No clocks run over this kind of entity.')
  return entity
}

/** Throws validation_failed for a policy that its entity, its calendar or the clock cannot go by. */
export function checkPolicy(
  policy: SlaPolicyState,
  calendar: SlaCalendarState | null,
  entity = entityFor(policy.entityType),
): SlaPolicyState {
  checkFit(policy, entity)
  checkGoals(policy, calendar)
  return policy
}

function checkFit({ metric, goalsBy, pauseReasons, pauseStatuses }: SlaPolicyState, entity: SlaEntity): void {
  const kind = `A ${entity.entityType}`
  if (!entity.metrics.includes(metric))
    throw invalidField('/metric', 'unfit_metric', `${kind} has no ${metric} that could be measured.`)
  if (!entity.goalsBy.includes(goalsBy))
    throw invalidField('/goalsBy', 'unfit_goals', `${kind} has no ${goalsBy} to go by.`)
  if (pauseReasons.length > 0 && entity.pauseReasons === null)
    throw invalidField('/pauseReasons', 'no_hold_reasons', `${kind} has no hold reason.`)
  const wrong = pauseStatuses.findIndex((status) => !entity.openStatuses.includes(status))
  if (wrong >= 0)
    throw invalidField(
      `/pauseStatuses/${wrong}`,
      'unknown_status',
      `${kind} waits in one of these alone: ${entity.openStatuses.join(', ')}.`,
    )
}

function checkGoals({ goals: given, goalsBy, updatedAt }: SlaPolicyState, calendar: SlaCalendarState | null) {
  const goals = Object.entries(given)
  const keys: readonly string[] = slaGoalKeys[goalsBy]
  const stray = goals.find(([key]) => !keys.includes(key))
  if (stray)
    throw invalidField(
      `/goals/${stray[0]}`,
      'unknown_goal',
      `Goals by ${goalsBy} are for ${keys.join(', ')}, not for ${stray[0]}.`,
    )
  if (goals.length === 0)
    throw invalidField('/goals', 'no_goal', `A policy needs a goal: for ${keys.join(', ')}.`)
  const from = Date.parse(updatedAt)
  const hours = calendar === null ? aroundTheClock : createCalendar(calendar)
  const most = hours.businessMsBetween(from, from + yearMs) / 60_000
  const beyond = goals.find(([, minutes]) => minutes > most)
  if (beyond)
    throw invalidField(
      `/goals/${beyond[0]}`,
      'goal_beyond_a_year',
      `The calendar is open for ${Math.floor(most)} minutes in a year, which is less than this goal.`,
    )
}
