import {
  invalidField,
  type SlaCalendarState,
  type SlaEntityType,
  type SlaGoalKey,
  type SlaPolicyPatch,
  type SlaPolicyState,
  slaGoalKeys,
} from '@opsplane/contracts'
import { aroundTheClock, createCalendar } from '../../calendar/calendar.js'
import { yearMs } from '../../calendar/lint.js'
import { goalUnitMs } from '../../calendar/measure.js'
import { findEntity } from '../entity/entities.js'
import type { SlaEntity } from '../entity/entity.js'
import { checkEscalations } from '../escalation/escalation-rules.js'
import { checkTraps } from './policy-traps.js'

/** Returns the kind of entity a policy applies to. Throws validation_failed if no timers measure this kind. */
export function getEntity(type: SlaEntityType): SlaEntity {
  const entity = findEntity(type)
  if (!entity) throw invalidField('/entityType', 'no_clocks', 'No timers run over this kind of entity.')
  return entity
}

/** Throws validation_failed for a policy that does not fit its entity, its calendar or its metric. */
export function checkPolicy(
  policy: SlaPolicyState,
  calendar: SlaCalendarState | null,
  entity = getEntity(policy.entityType),
): SlaPolicyState {
  checkFit(policy, entity)
  checkEscalations(policy)
  checkTraps(policy, entity)
  checkGoals(policy, calendar)
  return policy
}

function checkFit({ metric, goalsBy, pauseReasons, pauseStatuses }: SlaPolicyState, entity: SlaEntity): void {
  const kind = `${entity.entityType === 'incident' ? 'An' : 'A'} ${entity.entityType}`
  if (entity.metrics[metric] === undefined)
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

/** Throws validation_failed if a patch changes the unit without the goals: sixty minutes must not become sixty days. */
export function checkUnit(
  { goalUnit, goals }: Pick<SlaPolicyPatch, 'goalUnit' | 'goals'>,
  present: Pick<SlaPolicyState, 'goalUnit'>,
): void {
  if (goalUnit !== undefined && goalUnit !== present.goalUnit && goals === undefined)
    throw invalidField('/goals', 'goals_needed', 'Another unit needs the goals along with it.')
}

function checkGoals(policy: SlaPolicyState, calendar: SlaCalendarState | null) {
  const { goals: given, goalsBy, goalUnit, updatedAt } = policy
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
  if (goalUnit === 'business_days' && calendar === null)
    throw invalidField(
      '/calendarId',
      'calendar_needed',
      'Business days are those on which a calendar is open.',
    )
  const overlongGoal = findUnreachableGoal(policy, calendar, Date.parse(updatedAt))
  if (overlongGoal)
    throw invalidField(
      `/goals/${overlongGoal.key}`,
      'goal_beyond_a_year',
      `The calendar is open for ${overlongGoal.available} in a year, which is less than this goal.`,
    )
}

/** Throws validation_failed for a calendar with which an active policy would have an unreachable goal. */
export function checkGoalsReachable(
  calendar: SlaCalendarState,
  policies: readonly SlaPolicyState[],
): SlaCalendarState {
  const from = Date.parse(calendar.updatedAt)
  for (const policy of policies) {
    const { name, goals, status } = policy
    const overlongGoal = status === 'active' ? findUnreachableGoal(policy, calendar, from) : undefined
    if (overlongGoal)
      throw invalidField(
        '/week',
        'goal_beyond_a_year',
        `It would be open for ${overlongGoal.available} in a year, and the policy ${name} has a goal of ` +
          `${goals[overlongGoal.key]} (${overlongGoal.key}). Give the policy another goal or calendar first.`,
      )
  }
  return calendar
}

/** Returns the first goal that exceeds the open hours of a year. Its timer would never be due. */
function findUnreachableGoal(
  { goals, goalUnit }: Pick<SlaPolicyState, 'goals' | 'goalUnit'>,
  calendar: SlaCalendarState | null,
  from: number,
) {
  const hours = calendar === null ? aroundTheClock : createCalendar(calendar, goalUnit)
  const available = Math.floor(hours.businessMsBetween(from, from + yearMs) / goalUnitMs[goalUnit])
  const keys = Object.keys(goals) as SlaGoalKey[]
  const key = keys.find((key) => (goals[key] ?? 0) > available)
  return key && { key, available: `${available} ${goalUnit.replace('_', ' ')}` }
}
