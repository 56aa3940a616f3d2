import {
  IncidentChannel,
  IncidentStatus,
  Level,
  MajorState,
  Priority,
  ResolutionCode,
  Severity,
} from '@opsplane/contracts'
import type { RequestMeta } from '@opsplane/http'
import { z } from 'zod'
import { createdFilters } from '../../lists/created-filters.js'
import { listParameter, reference, searchFilter, searchSyntax } from '../../lists/filters.js'
import { unassignedFilter } from '../../lists/unassigned.js'
import type { IncidentFilters } from './queries.js'

/** Filters of the incident list. All given filters must match. */
export const incidentFilters = z.object({
  status: listParameter(IncidentStatus)
    .optional()
    .meta({
      description: 'One or several statuses, repeated or separated by commas.',
      example: ['open', 'in_progress'],
    }),
  severity: listParameter(Severity)
    .optional()
    .meta({
      description: 'One or several severities, repeated or separated by commas.',
      example: ['critical', 'high'],
    }),
  priority: listParameter(Priority)
    .optional()
    .meta({ description: 'One or several, as with `severity`.', example: ['P1', 'P2'] }),
  impact: listParameter(Level)
    .optional()
    .meta({ description: 'One or several, as with `severity`.', example: ['high'] }),
  urgency: listParameter(Level)
    .optional()
    .meta({ description: 'One or several, as with `severity`.', example: ['high', 'medium'] }),
  resolutionCode: listParameter(ResolutionCode)
    .optional()
    .meta({ description: 'One or several, as with `severity`.', example: ['workaround'] }),
  majorState: MajorState.optional().meta({ description: 'Where it stands as a major incident.' }),
  assigneeId: reference
    .optional()
    .meta({ description: `A user, \`me\`, or \`${unassignedFilter}\` for unassigned incidents.` }),
  assignmentGroup: reference
    .optional()
    .meta({ description: `A team, or \`${unassignedFilter}\` for unrouted incidents.` }),
  callerId: reference
    .optional()
    .meta({ description: 'A user, or `me`: who is affected and asked for help.' }),
  ciId: reference.optional().meta({ description: 'The configuration item it is about.' }),
  category: reference.optional().meta({ description: 'Exactly this category.', example: 'availability' }),
  channel: listParameter(IncidentChannel)
    .optional()
    .meta({
      description: 'How it came in; one or several, as with `severity`.',
      example: ['phone', 'email'],
    }),
  watcherId: reference.optional().meta({ description: 'A user, or `me`, who follows it.' }),
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

/** Filters that accept a number such as `INC-12` in place of an id. */
export const incidentReferences = ['parentId', 'problemId', 'changeId'] as const

/** Sort keys of the list. */
export const incidentSorts = ['-createdAt', 'updatedAt', 'number', 'priority', 'severity'] as const

export const urgencySorts =
  'By `priority` or `severity` the most urgent come first, of the equally urgent the oldest; with `-` all is the other way round.'

/** Replaces `me` with the caller's user id. A cursor is bound to `me`, so each caller pages through their own list. */
export function resolveMe<Filters extends Pick<IncidentFilters, 'assigneeId' | 'callerId' | 'watcherId'>>(
  { principal: { userId } }: Pick<RequestMeta, 'principal'>,
  filters: Filters,
): Filters {
  const known = (id: string | undefined) => (id === 'me' ? userId : id)
  const { assigneeId, callerId, watcherId } = filters
  const people = { assigneeId: known(assigneeId), callerId: known(callerId), watcherId: known(watcherId) }
  return { ...filters, ...people }
}
