import { IncidentStatus, Level, MajorState, Priority, ResolutionCode, Severity } from '@opsplane/contracts'
import { z } from 'zod'
import { createdFilters } from '../lists/created.js'
import { reference, searchFilter, searchSyntax, severalOf } from '../lists/filters.js'
import { nobody } from '../lists/nobody.js'

/** The filters of the incident list; all that are given must hold. */
export const incidentFilters = z.object({
  status: severalOf(IncidentStatus)
    .optional()
    .meta({
      description: 'One or several statuses, repeated or separated by commas.',
      example: ['open', 'in_progress'],
    }),
  severity: severalOf(Severity)
    .optional()
    .meta({
      description: 'One or several severities, repeated or separated by commas.',
      example: ['critical', 'high'],
    }),
  priority: severalOf(Priority)
    .optional()
    .meta({ description: 'One or several, as with `severity`.', example: ['P1', 'P2'] }),
  impact: severalOf(Level)
    .optional()
    .meta({ description: 'One or several, as with `severity`.', example: ['high'] }),
  urgency: severalOf(Level)
    .optional()
    .meta({ description: 'One or several, as with `severity`.', example: ['high', 'medium'] }),
  resolutionCode: severalOf(ResolutionCode)
    .optional()
    .meta({ description: 'One or several, as with `severity`.', example: ['workaround'] }),
  majorState: MajorState.optional().meta({ description: 'Where it stands as a major incident.' }),
  assigneeId: reference
    .optional()
    .meta({ description: `A user, or \`${nobody}\` for unassigned incidents.` }),
  assignmentGroup: reference
    .optional()
    .meta({ description: `A team, or \`${nobody}\` for unrouted incidents.` }),
  watcherId: reference.optional().meta({ description: 'A user who follows it.' }),
  parentId: reference.optional().meta({ description: 'The incident it is a child of; an id or a number.' }),
  problemId: reference
    .optional()
    .meta({ description: 'The problem it is an instance of; an id or a number.' }),
  changeId: reference.optional().meta({ description: 'The change that will mend it; an id or a number.' }),
  dedupKey: z.string().trim().min(1).max(200).optional().meta({ description: 'The key of its alerts.' }),
  tag: z
    .string()
    .trim()
    .min(1)
    .max(50)
    .optional()
    .meta({ description: 'A tag it has.', example: 'checkout' }),
  q: searchFilter.meta({ description: `Words in number, title, tags or description. ${searchSyntax}` }),
  ...createdFilters,
})

/** The filters that take a number too. */
export const incidentReferences = ['parentId', 'problemId', 'changeId'] as const
