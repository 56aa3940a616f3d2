import { MomentOrDay, SlaClockState, SlaEntityType, SlaMetric, SlaPolicyState } from '@opsplane/contracts'
import { z } from 'zod'
import { createdFilters } from '../lists/created-filters.js'
import { listParameter, reference, searchFilter, searchSyntax } from '../lists/filters.js'

const several = 'repeated or separated by commas'
const entityTypes = listParameter(SlaEntityType)
  .optional()
  .meta({ description: `One or several kinds of entity, ${several}.`, example: ['problem', 'change'] })

/** Filters of the policy list. In this and the following lists, all given filters must match. */
export const policyFilters = z.object({
  status: listParameter(SlaPolicyState.shape.status)
    .optional()
    .meta({ description: `\`active\`, \`inactive\` or both, ${several}.`, example: ['active'] }),
  entityType: entityTypes,
  metric: SlaMetric.optional(),
  calendarId: reference.optional().meta({ description: 'Calendar that the policies use.' }),
  q: searchFilter.meta({ description: `Words to find in the name. ${searchSyntax}` }),
  ...createdFilters,
})
export type PolicyFilters = z.output<typeof policyFilters>

export const calendarFilters = z.object({
  timeZone: reference
    .optional()
    .meta({ description: 'IANA name of the time zone of the calendars.', example: 'Europe/Berlin' }),
  q: searchFilter.meta({ description: `Words to find in the name or time zone. ${searchSyntax}` }),
  ...createdFilters,
})
export type CalendarFilters = z.output<typeof calendarFilters>

export const timerFilters = z.object({
  entityType: entityTypes,
  entityId: reference
    .optional()
    .meta({ description: 'Record that the SLA clocks measure; an id or a number.', example: 'INC-42' }),
  policyId: reference.optional(),
  metric: SlaMetric.optional(),
  state: listParameter(SlaClockState)
    .optional()
    .meta({ description: `One or several states, ${several}.`, example: ['running', 'paused'] }),
  breached: z
    .enum(['true', 'false'])
    .optional()
    .meta({ description: 'Whether the timers have exceeded their goal.', example: 'true' }),
  dueBefore: MomentOrDay.optional().meta({
    description: 'Timers due earlier than this instant or date; paused timers are never due.',
  }),
  q: searchFilter.meta({
    description: `Words to find in the number of the entity or the name of the policy. ${searchSyntax}`,
  }),
  createdAfter: MomentOrDay.optional().meta({
    description: 'Timers of entities created later than this instant or date.',
  }),
  createdBefore: MomentOrDay.optional().meta({
    description: 'Timers of entities created earlier than this instant or date.',
  }),
})
export type TimerFilters = z.output<typeof timerFilters>
