import { ChangeRisk, ChangeStatus, ChangeType, MomentOrDay } from '@opsplane/contracts'
import { z } from 'zod'
import { createdFilters } from '../lists/created-filters.js'
import { listParameter, reference, searchFilter, searchSyntax } from '../lists/filters.js'
import { unassignedFilter } from '../lists/unassigned.js'

const several = 'One or several, repeated or separated by commas.'

/** Filters of the change list. All given filters must match. */
export const changeFilters = z.object({
  status: listParameter(ChangeStatus)
    .optional()
    .meta({ description: several, example: ['assess', 'authorize'] }),
  type: listParameter(ChangeType)
    .optional()
    .meta({ description: several, example: ['normal'] }),
  risk: listParameter(ChangeRisk)
    .optional()
    .meta({ description: several, example: ['high'] }),
  assigneeId: reference
    .optional()
    .meta({ description: `A user, or \`${unassignedFilter}\` for unassigned changes.` }),
  assignmentGroup: reference
    .optional()
    .meta({ description: `A team, or \`${unassignedFilter}\` for changes without a team.` }),
  requesterId: reference.optional().meta({ description: 'User who requested the change.' }),
  ciId: reference.optional().meta({ description: 'Configuration item that the change affects.' }),
  problemId: reference
    .optional()
    .meta({ description: 'Problem that the change is intended to solve; an id or a number.' }),
  templateId: reference.optional().meta({ description: 'Template that the change was created from.' }),
  approverId: reference.optional().meta({
    description:
      'User, or `me`, whose approval is pending. Approvals open to anyone count for every user ' +
      'who may decide on the change.',
  }),
  q: searchFilter.meta({ description: `Words to find in the number, title or description. ${searchSyntax}` }),
  plannedAfter: MomentOrDay.optional().meta({
    description: 'Changes planned to start later than this instant or date.',
  }),
  plannedBefore: MomentOrDay.optional().meta({
    description: 'Changes planned to start earlier than this instant or date.',
  }),
  ...createdFilters,
})
