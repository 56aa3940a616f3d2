import { ChangeWindowKind, changeWindowStatuses, MomentOrDay } from '@opsplane/contracts'
import { z } from 'zod'
import { listParameter, reference, searchFilter, searchSyntax } from '../lists/filters.js'

const several = 'One or several, repeated or separated by commas.'

/** Filters of the window list. All given filters must match. */
export const windowFilters = z.object({
  kind: listParameter(ChangeWindowKind)
    .optional()
    .meta({ description: several, example: ['blackout'] }),
  status: listParameter(z.enum(changeWindowStatuses))
    .optional()
    .meta({ description: several, example: ['active'] }),
  ciId: reference.optional().meta({
    description:
      'Windows that cover this configuration item; with `asOf`, according to the class of the item at that instant.',
  }),
  q: searchFilter.meta({ description: `Words to find in the name or reason. ${searchSyntax}` }),
  from: MomentOrDay.optional().meta({
    description: 'Windows that end later than this instant or date, or recur indefinitely.',
  }),
  to: MomentOrDay.optional().meta({
    description:
      'Windows that begin earlier than this instant or date. A recurring window counts from its first to its last ' +
      'occurrence.',
  }),
})
export type WindowFilters = z.output<typeof windowFilters>
