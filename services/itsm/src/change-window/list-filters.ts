import { ChangeWindowKind, changeWindowStatuses, Moment } from '@opsplane/contracts'
import { z } from 'zod'

/** The filters of the list of windows; all that are given must hold. */
export const windowFilters = z.object({
  kind: ChangeWindowKind.optional(),
  status: z.enum(changeWindowStatuses).optional(),
  ciId: z.string().min(1).max(100).optional().meta({ description: 'Windows that cover this item.' }),
  from: Moment.optional().meta({ description: 'Windows that end later than this, or recur for ever.' }),
  to: Moment.optional().meta({
    description: 'Windows that begin earlier. A recurring one counts from its first to its last time.',
  }),
})
export type WindowFilters = z.output<typeof windowFilters>
