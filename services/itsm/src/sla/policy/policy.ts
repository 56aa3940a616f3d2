import {
  changedFields,
  type Decider,
  type Decision,
  type Instant,
  type NewSlaCalendar,
  type NewSlaPolicy,
  notFound,
  type SlaCalendarPatch,
  type SlaCalendarState,
  type SlaPolicyPatch,
  type SlaPolicyState,
} from '@opsplane/contracts'
import { mergeHolidays, type NewHolidays } from '../../calendar/holidays.js'
import { checkCalendar } from '../../calendar/lint.js'
import { checkConditions } from '../../conditions.js'
import { checkGoalsReachable, checkPolicy, checkUnit, getEntity } from './policy-lint.js'

export type CalendarCommand =
  | { kind: 'create'; id: string; input: NewSlaCalendar; now: Instant }
  /** Contains the policies that use the calendar. */
  | { kind: 'patch'; patch: SlaCalendarPatch; policies: readonly SlaPolicyState[]; now: Instant }
  | ({ kind: 'import'; policies: readonly SlaPolicyState[]; now: Instant } & NewHolidays)
  | { kind: 'delete' }

/** Every revision remains as a separate row, for the clocks that are pinned to it. */
export const slaCalendar: Decider<SlaCalendarState, CalendarCommand> = {
  resourceType: 'sla_calendar',
  table: 'sla_calendars',
  decide: (command, state) => {
    if (command.kind === 'create') {
      const { id, input, now } = command
      const after = checkCalendar({ id, ...input, revision: 1, createdAt: now, updatedAt: now })
      return [{ type: 'sla_calendar.created', after }]
    }
    if (state === null) throw notFound()
    if (command.kind === 'delete') return [{ type: 'sla_calendar.deleted', after: null }]
    const { policies, now } = command
    const changes =
      command.kind === 'import' ? mergeHolidays(command, state) : withoutUndefined(command.patch)
    return updatedEvent('sla_calendar.updated', state, changes, now, (after) =>
      checkGoalsReachable(checkCalendar(after), policies),
    )
  },
  expose: (state) => state,
  describe: ({ name }) => ({ displayName: name }),
  project: ({ after }) => revisionRow('sla_calendar_revisions', after),
}

/** `calendar` is the calendar the policy names, which the policy is checked against; `null` counts around the clock. */
export type PolicyCommand =
  | { kind: 'create'; id: string; input: NewSlaPolicy; calendar: SlaCalendarState | null; now: Instant }
  | { kind: 'patch'; patch: SlaPolicyPatch; calendar: SlaCalendarState | null; now: Instant }
  | { kind: 'delete' }

export const slaPolicy: Decider<SlaPolicyState, PolicyCommand> = {
  resourceType: 'sla_policy',
  table: 'sla_policies',
  decide: (command, state) => {
    if (command.kind === 'create') {
      const { id, input, calendar, now } = command
      checkConditions(input.conditions, getEntity(input.entityType).record)
      const activeSince = input.status === 'active' ? now : null
      const after = { id, ...withDefaults(input), revision: 1, activeSince, createdAt: now, updatedAt: now }
      return [{ type: 'sla_policy.created', after: checkPolicy(after, calendar) }]
    }
    if (state === null) throw notFound()
    if (command.kind === 'delete') return [{ type: 'sla_policy.deleted', after: null }]
    const { patch, calendar, now } = command
    if (patch.conditions) checkConditions(patch.conditions, getEntity(state.entityType).record)
    checkUnit(patch, state)
    const wakes = patch.status === 'active' && state.status === 'inactive'
    const changes = { ...withoutUndefined(patch), ...(wakes && { activeSince: now }) }
    return updatedEvent('sla_policy.updated', state, changes, now, (after) => checkPolicy(after, calendar))
  },
  expose: (state) => state,
  describe: ({ name }) => ({ displayName: name }),
  project: ({ after }) => revisionRow('sla_policy_revisions', after),
}

/** Fills in the defaults of `goalsBy` and `pauseReasons`, which depend on the kind of entity. */
function withDefaults({ goalsBy, pauseReasons, ...input }: NewSlaPolicy) {
  const entity = getEntity(input.entityType)
  return {
    ...input,
    goalsBy: goalsBy ?? entity.goalsBy[0],
    pauseReasons: pauseReasons ?? [...(entity.pauseReasons ?? [])],
  }
}

type Defined<Patch> = { [Name in keyof Patch]?: Exclude<Patch[Name], undefined> }

function withoutUndefined<Patch extends object>(patch: Patch): Defined<Patch> {
  return Object.fromEntries(
    Object.entries(patch).filter(([, value]) => value !== undefined),
  ) as Defined<Patch>
}

function updatedEvent<State extends { revision: number }>(
  type: string,
  state: State,
  changes: Partial<State>,
  now: Instant,
  check: (state: State) => State,
): Decision<State>[] {
  const changedPolicy = { ...state, ...changes }
  if (changedFields(state, changedPolicy).length === 0) return []
  return [{ type, after: check({ ...changedPolicy, revision: state.revision + 1, updatedAt: now }) }]
}

/** Id of the row of one revision. */
export const revisionId = (id: string, revision: number) => `${id}.${revision}`

function revisionRow(table: string, after: { id: string; revision: number } | null) {
  return after === null ? [] : [{ table, id: revisionId(after.id, after.revision), state: { ...after } }]
}
