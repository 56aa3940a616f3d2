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
    .meta({
      description: 'One or several priorities, repeated or separated by commas.',
      example: ['P1', 'P2'],
    }),
  impact: listParameter(Level)
    .optional()
    .meta({
      description: 'One or several impact levels, repeated or separated by commas.',
      example: ['high'],
    }),
  urgency: listParameter(Level)
    .optional()
    .meta({
      description: 'One or several urgency levels, repeated or separated by commas.',
      example: ['high', 'medium'],
    }),
  resolutionCode: listParameter(ResolutionCode)
    .optional()
    .meta({
      description: 'One or several resolution codes, repeated or separated by commas.',
      example: ['workaround'],
    }),
  majorState: MajorState.optional().meta({ description: 'State of the incident as a major incident.' }),
  assigneeId: reference
    .optional()
    .meta({ description: `A user, \`me\`, or \`${unassignedFilter}\` for unassigned incidents.` }),
  assignmentGroup: reference
    .optional()
    .meta({ description: `A team, or \`${unassignedFilter}\` for incidents without a team.` }),
  callerId: reference
    .optional()
    .meta({ description: 'A user, or `me`: the person who is affected and asked for help.' }),
  ciId: reference.optional().meta({ description: 'Configuration item that the incident concerns.' }),
  category: reference
    .optional()
    .meta({ description: 'Category of the incident; exact match.', example: 'availability' }),
  channel: listParameter(IncidentChannel)
    .optional()
    .meta({
      description:
        'Channels through which the incident was reported; one or several, repeated or separated by commas.',
      example: ['phone', 'email'],
    }),
  watcherId: reference.optional().meta({ description: 'A user, or `me`, who watches the incident.' }),
  parentId: reference.optional().meta({ description: 'Parent incident; an id or a number.' }),
  problemId: reference
    .optional()
    .meta({ description: 'Problem that causes the incident; an id or a number.' }),
  changeId: reference
    .optional()
    .meta({ description: 'Change that is to fix the incident; an id or a number.' }),
  dedupKey: z
    .string()
    .trim()
    .min(1)
    .max(200)
    .optional()
    .meta({ description: 'Deduplication key of the alerts of the incident.' }),
  tag: z
    .string()
    .trim()
    .min(1)
    .max(50)
    .optional()
    .meta({ description: 'Tag of the incident.', example: 'checkout' }),
  q: searchFilter.meta({
    description: `Words to find in the number, title, tags or description. ${searchSyntax}`,
  }),
  ...createdFilters,
})

/** Filters that accept a number such as `INC-12` in place of an id. */
export const incidentReferences = ['parentId', 'problemId', 'changeId'] as const

/** Sort keys of the list. */
export const incidentSorts = ['-createdAt', 'updatedAt', 'number', 'priority', 'severity'] as const

export const urgencySorts =
  '`priority` and `severity` list the most urgent first and, among equally urgent ones, the oldest first; `-` reverses the order.'

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
