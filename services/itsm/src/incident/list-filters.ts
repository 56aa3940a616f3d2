import {
  IncidentStatus,
  Level,
  MajorState,
  Moment,
  Priority,
  ResolutionCode,
  Severity,
} from '@opsplane/contracts'
import { z } from 'zod'
import { nobody } from '../lists/nobody.js'

/** A parameter that may be repeated or hold several values separated by commas. */
export const severalOf = <Value extends z.ZodType>(value: Value) =>
  z.preprocess(
    (given) => (typeof given === 'string' || Array.isArray(given) ? String(given).split(',') : given),
    z.array(value).min(1).max(20),
  )

/** Words to find in the records of a list. */
export const searchFilter = z.string().trim().min(1).max(200).optional()
export const searchSyntax =
  'All must be there, the last one may go on; `"…"` is a phrase, `-` excludes, `or` is either. Accents, case and ' +
  'punctuation do not count. A number such as `INC-4` is taken as a whole.'

const person = z.string().min(1).max(100)
const reference = z.string().min(1).max(100)

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
  assigneeId: person.optional().meta({ description: `A user, or \`${nobody}\` for unassigned incidents.` }),
  assignmentGroup: person
    .optional()
    .meta({ description: `A team, or \`${nobody}\` for unrouted incidents.` }),
  watcherId: person.optional().meta({ description: 'A user who follows it.' }),
  parentId: reference.optional().meta({ description: 'The incident it is a child of.' }),
  problemId: reference.optional().meta({ description: 'The problem it is an instance of.' }),
  changeId: reference.optional().meta({ description: 'The change that will mend it.' }),
  dedupKey: z.string().trim().min(1).max(200).optional().meta({ description: 'The key of its alerts.' }),
  tag: z
    .string()
    .trim()
    .min(1)
    .max(50)
    .optional()
    .meta({ description: 'A tag it has.', example: 'checkout' }),
  q: searchFilter.meta({ description: `Words in number, title, tags or description. ${searchSyntax}` }),
  createdAfter: Moment.optional().meta({ description: 'Created later than this.' }),
  createdBefore: Moment.optional().meta({ description: 'Created earlier than this.' }),
})
