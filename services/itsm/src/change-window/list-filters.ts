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
  ciId: reference
    .optional()
    .meta({ description: 'Windows that cover this item; with `asOf` by the class it had then.' }),
  q: searchFilter.meta({ description: `Words in name or reason. ${searchSyntax}` }),
  from: MomentOrDay.optional().meta({ description: 'Windows that end later than this, or recur for ever.' }),
  to: MomentOrDay.optional().meta({
    description: 'Windows that begin earlier. A recurring one counts from its first to its last time.',
  }),
})
export type WindowFilters = z.output<typeof windowFilters>
