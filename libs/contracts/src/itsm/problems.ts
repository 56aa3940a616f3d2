import { z } from 'zod'
import { idSchema, ResourceVersion } from '../core/ids.js'
import { Actor } from '../core/principal.js'
import { type EventDefinition, resourceEvent } from '../events/catalog.js'
import { allowedActionsSchema, requireForAll } from './allowed-actions.js'
import { ChangeOutcome, ChangeStatus } from './changes.js'
import { Level, Priority } from './priority.js'

export const problemStatuses = [
  'new',
  'assess',
  'root_cause_analysis',
  'fix_in_progress',
  'resolved',
  'closed',
] as const
export const ProblemStatus = z.enum(problemStatuses).meta({ id: 'ProblemStatus' })
export type ProblemStatus = z.infer<typeof ProblemStatus>

/** How a problem ended. */
export const problemResolutions = ['fix_applied', 'risk_accepted', 'duplicate', 'canceled'] as const
// No component id: OpenAPI components of nullable enums become nullable everywhere.
export const ProblemResolution = z.enum(problemResolutions)
export type ProblemResolution = z.infer<typeof ProblemResolution>

/** All actions on a problem; its status determines which of them apply. */
export const problemActions = [
  'edit',
  'assess',
  'analyze',
  'fix',
  'resolve',
  'close',
  'reopen',
  'publish_workaround',
  'mark_known_error',
  'unmark_known_error',
] as const
export const ProblemAction = z.enum(problemActions).meta({ id: 'ProblemAction' })
export type ProblemAction = z.infer<typeof ProblemAction>

const Title = z.string().trim().min(1).max(200).meta({ example: 'Connections leak under load' })
const Prose = z.string().max(20_000).nullable()
const Description = Prose.meta({ description: 'Description of the problem in Markdown.' })
const Symptoms = Prose.meta({ description: 'Symptoms of the problem.' })
const RootCause = Prose.meta({ description: 'Root cause of the problem.' })
const Workaround = Prose.meta({ description: 'Workaround until the problem is fixed.' })
const Reference = z.string().trim().min(1).max(100)
const AssigneeId = Reference.nullable().meta({
  description: 'User who coordinates the work on the problem.',
  example: 'usr_01JZ8Q4D3N5W7X9Y2B4C6D8E0F',
})
const AssignmentGroup = Reference.nullable().meta({
  description: 'Team responsible for the problem.',
  example: 'payments',
})
const Category = Reference.nullable().meta({ example: 'availability' })
// The decider removes duplicates, so that an invalid entry is reported with its index in the request.
const References = z.array(Reference).max(50)
const CiIds = References.meta({ description: 'Affected configuration items. Duplicates are removed.' })
const ChangeIds = References.meta({ description: 'Changes that fix the problem. Duplicates are removed.' })
const Tags = z
  .array(z.string().trim().min(1).max(50))
  .max(50)
  .overwrite((tags) => [...new Set(tags)])
  .meta({ description: 'Tags of the problem. Duplicates are removed.', example: ['checkout'] })
const ResolutionNotes = z.string().trim().min(1).max(5_000).meta({ example: 'Raised the pool limit.' })
const At = z.iso.datetime({ precision: 3 })

/** A problem as contained in events: its fields, without those only an API response adds. */
export const ProblemState = z.object({
  id: idSchema('problem'),
  number: z.string().meta({
    description: 'Number of the problem, unique in the workspace and increasing.',
    example: 'PRB-7',
  }),
  title: Title,
  description: Description,
  status: ProblemStatus,
  impact: Level,
  urgency: Level,
  priority: Priority.meta({ description: 'Priority, derived from impact and urgency.' }),
  assigneeId: AssigneeId,
  assignmentGroup: AssignmentGroup,
  category: Category,
  ciIds: CiIds,
  changeIds: ChangeIds,
  symptoms: Symptoms,
  rootCause: RootCause,
  workaround: Workaround,
  workaroundPublishedAt: At.nullable().meta({
    description:
      'Time at which the current workaround was published; `null` again as soon as the workaround changes.',
  }),
  knownError: z.boolean().meta({ description: 'Whether root cause and workaround are known.' }),
  knownErrorAt: At.nullable(),
  resolution: ProblemResolution.nullable().meta({
    description: 'Resolution, set if and only if the problem is resolved or closed.',
  }),
  resolutionNotes: z.string().nullable(),
  duplicateOf: idSchema('problem')
    .nullable()
    .meta({ description: 'Problem to follow instead. Set if and only if the resolution is `duplicate`.' }),
  resolvedAt: At.nullable(),
  closedAt: At.nullable(),
  reopenCount: z.int().min(0),
  tags: Tags,
  createdBy: Actor,
  createdAt: At,
  updatedAt: At,
})
export type ProblemState = z.infer<typeof ProblemState>

export const Problem = ProblemState.extend({
  version: ResourceVersion,
  allowedActions: allowedActionsSchema(
    ProblemAction,
    requireForAll(problemActions, 'itsm:write'),
    'the present status',
  ),
}).meta({ id: 'Problem' })
export type Problem = z.infer<typeof Problem>

export const NewProblem = z
  .strictObject({
    title: Title,
    description: Description.optional(),
    impact: Level.default('medium'),
    urgency: Level.default('medium'),
    assigneeId: AssigneeId.optional(),
    assignmentGroup: AssignmentGroup.optional(),
    category: Category.optional(),
    ciIds: CiIds.default([]),
    changeIds: ChangeIds.default([]),
    symptoms: Symptoms.optional(),
    rootCause: RootCause.optional(),
    workaround: Workaround.optional(),
    tags: Tags.default([]),
  })
  .meta({
    id: 'NewProblem',
    example: {
      title: 'Connections leak under load',
      impact: 'high',
      assignmentGroup: 'payments',
      symptoms: 'Checkout answers 502 after a few hours.',
      tags: ['checkout'],
    },
  })
export type NewProblem = z.infer<typeof NewProblem>

export const ProblemPatch = z
  .strictObject({
    title: Title,
    description: Description,
    impact: Level,
    urgency: Level,
    assigneeId: AssigneeId,
    assignmentGroup: AssignmentGroup,
    category: Category,
    ciIds: CiIds,
    changeIds: ChangeIds,
    symptoms: Symptoms,
    rootCause: RootCause,
    workaround: Workaround,
    tags: Tags,
  })
  .partial()
  .meta({ id: 'ProblemPatch', example: { rootCause: 'The pool never returns broken connections.' } })
export type ProblemPatch = z.infer<typeof ProblemPatch>

const resolutionFields = {
  resolutionNotes: ResolutionNotes.optional().meta({
    description: 'Notes on the resolution. Required for `fix_applied` and `risk_accepted`.',
    example: 'Raised the pool limit.',
  }),
  duplicateOf: Reference.optional().meta({
    description:
      'Id or number of the other problem. Required for `duplicate` and not allowed for other resolutions.',
  }),
}

export const ResolveProblem = z
  .strictObject({
    resolution: ProblemResolution.meta({
      description: 'Resolution of the problem. `fix_applied` requires a `rootCause`.',
    }),
    ...resolutionFields,
  })
  .meta({
    id: 'ResolveProblem',
    example: { resolution: 'fix_applied', resolutionNotes: 'Broken connections are returned.' },
  })

export const CloseProblem = z
  .strictObject({
    resolution: ProblemResolution.exclude(['fix_applied']).optional().meta({
      description:
        'Resolution of the problem. Required if the problem is not resolved yet; refused if it is.',
    }),
    ...resolutionFields,
  })
  .meta({
    id: 'CloseProblem',
    example: { resolution: 'risk_accepted', resolutionNotes: 'The system is replaced next month.' },
  })

export const ReopenProblem = z
  .strictObject({ reason: z.string().trim().min(1).max(2_000).optional() })
  .meta({ id: 'ReopenProblem', example: { reason: 'It happens again.' } })

export const PublishWorkaround = z
  .strictObject({
    workaround: z
      .string()
      .trim()
      .min(1)
      .max(20_000)
      .optional()
      .meta({ description: 'Workaround to publish. Default: the current workaround of the problem.' }),
  })
  .meta({ id: 'PublishWorkaround', example: { workaround: 'Restart the checkout pods every hour.' } })

export const LinkProblemIncident = z
  .strictObject({
    incidentId: Reference.meta({ description: 'Id or number of the incident.', example: 'INC-42' }),
  })
  .meta({ id: 'LinkProblemIncident', example: { incidentId: 'INC-42' } })

const problemEvent = <Extras extends z.ZodRawShape = Record<never, never>>(
  description: string,
  extras?: Extras,
) => resourceEvent(ProblemState, description, extras)

/** A closed or canceled change; `outcome` is `null` if it was canceled. */
export const EndedChange = z.object({
  id: idSchema('change'),
  number: z.string(),
  status: ChangeStatus,
  outcome: ChangeOutcome.nullable(),
})
export type EndedChange = z.infer<typeof EndedChange>

export const problemEvents = {
  'problem.created': problemEvent('A problem was recorded.'),
  'problem.updated': problemEvent('Fields or status changed in a way no other problem event tells.'),
  'problem.workaround_published': problemEvent('A workaround is there for everyone affected.'),
  'problem.known_error': problemEvent('Root cause and workaround are known: it is a known error now.'),
  'problem.resolved': problemEvent('Work on the problem has come to a result; `resolution` says which.'),
  'problem.closed': problemEvent('The problem was closed, resolved before or at once.'),
  'problem.changes_ended': problemEvent(
    'The last change linked to an open problem has ended: the coordinator checks whether it solved the problem.',
    { endedChanges: z.array(EndedChange) },
  ),
  'problem.reopened': problemEvent('A resolved or closed problem is analyzed again.', {
    reason: z.string().nullable(),
  }),
} satisfies Record<string, EventDefinition>
export type ProblemEventType = keyof typeof problemEvents
