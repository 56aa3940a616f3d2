import {
  ApiError,
  type CommandMeta,
  type NewSlaPolicy,
  newId,
  notFound,
  type SlaCalendarState,
  type SlaPolicyPatch,
  type SlaPolicyState,
} from '@opsplane/contracts'
import { lockTenant, type SerializerContext, serializer, type Unit } from '@opsplane/eventstore'
import type { People } from '../../people.js'
import { policiesOfCalendar } from '../queries.js'
import { calendarAbsent, type SlaStores } from '../timer/stores.js'
import { escalationPeople, formerlyNamed } from './escalation-people.js'
import type { CalendarCommand } from './policy.js'

/**
 * Serializes writes of policies and calendars within a tenant, so that a policy always names an existing calendar that
 * allows its goals, even if the calendar is changed or deleted concurrently.
 */
export function createSlaPolicyWriter(
  ctx: SerializerContext,
  { policies, calendars }: SlaStores,
  people: People,
) {
  const inTurn = serializer(ctx, lockTenant('sla-calendars'))

  const findCalendar = async (unit: Unit, id: string | null): Promise<SlaCalendarState | null> => {
    if (id === null) return null
    const found = await unit.find(calendars, id)
    if (!found) throw calendarAbsent()
    return found.state
  }

  return {
    createPolicy: (input: NewSlaPolicy, meta: CommandMeta) =>
      inTurn(meta, async (unit) => {
        await people.check(meta.tenant, escalationPeople(input))
        const id = newId('slaPolicy')
        const calendar = await findCalendar(unit, input.calendarId)
        return unit.create(policies, id, { kind: 'create', id, input, calendar, now: meta.now })
      }),

    changePolicy: (id: string, patch: SlaPolicyPatch, meta: CommandMeta) =>
      inTurn(meta, async (unit) => {
        const present = await unit.find(policies, id)
        if (!present) throw notFound()
        const targetPeople = escalationPeople(patch)
        await people.check(meta.tenant, targetPeople, formerlyNamed(targetPeople, present.state))
        const { calendarId = present.state.calendarId } = patch
        const calendar = await findCalendar(unit, calendarId)
        return unit.handle(policies, id, { kind: 'patch', patch, calendar, now: meta.now })
      }),

    /** Changes a calendar. `commandFor` receives the policies that use it. */
    changeCalendar: (
      id: string,
      commandFor: (policies: readonly SlaPolicyState[]) => CalendarCommand,
      meta: CommandMeta,
    ) =>
      inTurn(meta, async (unit, tx) => {
        const command = commandFor(await policiesOfCalendar(tx, meta.tenant, id))
        return unit.handle(calendars, id, command)
      }),

    deleteCalendar: (id: string, meta: CommandMeta): Promise<void> =>
      inTurn(meta, async (unit, tx) => {
        const [policy] = await policiesOfCalendar(tx, meta.tenant, id)
        if (policy) throw new ApiError('conflict', `The SLA policy ${policy.name} counts by this calendar.`)
        await unit.handle(calendars, id, { kind: 'delete' })
      }),
  }
}
export type SlaPolicyWriter = ReturnType<typeof createSlaPolicyWriter>
