import { invalidField, type SlaCalendarState, type TenantScope } from '@opsplane/contracts'
import type { EventStore } from '@opsplane/eventstore'
import { slaCalendar, slaPolicy } from '../policy/policy.js'

export function slaStores(store: EventStore) {
  const calendars = store.aggregate(slaCalendar)
  return {
    calendars,
    policies: store.aggregate(slaPolicy),
    /** Returns the calendar of a policy. Throws validation_failed if it does not exist. */
    findCalendar: async (id: string | null, tenant: TenantScope): Promise<SlaCalendarState | null> => {
      if (id === null) return null
      const found = await calendars.find(id, tenant)
      if (!found) throw calendarAbsent()
      return found.state
    },
  }
}
export type SlaStores = ReturnType<typeof slaStores>

export const calendarAbsent = () =>
  invalidField('/calendarId', 'not_found', 'There is no calendar of this id.')
