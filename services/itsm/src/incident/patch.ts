import {
  changedFields,
  type IncidentComment,
  type IncidentPatch,
  type IncidentState,
  invalidField,
  type PriorityMatrix,
} from '@opsplane/contracts'
import type { PatchIncident } from './commands.js'
import { isMoreSevere } from './escalate-levels.js'
import { checkHoldReason } from './hold-reason.js'
import { checkParent } from './parent-child/parent-child.js'
import { computePriority, type PriorityChange } from './priority.js'
import type { IncidentStep } from './steps.js'
import { actionTo } from './transitions.js'

/** A PATCH as input of the stages: with the resulting priority, and with the comment to store. */
interface ResolvedPatch extends Omit<IncidentPatch, 'priorityOverride' | 'comment'>, PriorityChange {
  comment?: IncidentComment | undefined
  resolutionRequired: boolean
  reopens: boolean
  /** Given if the severity decides the priority. */
  priorityMatrix?: PriorityMatrix | undefined
}

type Stage = (patch: ResolvedPatch, state: IncidentState) => IncidentStep | null

/**
 * The stages of a PATCH in order. Work must be open again before it can be
 * escalated or assigned, and it ends only after its last edits. Editing is adjacent
 * to starting and holding, so that both result in one `incident.updated` event.
 */
export const patchStages: readonly Stage[] = [
  reopening,
  escalation,
  assignment,
  commenting,
  edit,
  statusChange,
]

/** Resolves the PATCH against the current state. Throws validation_failed if fields contradict each other. */
export function resolvePatch(command: PatchIncident, state: IncidentState): ResolvedPatch {
  const { priorityOverride: _, comment: __, ...fields } = checkPatch(command.patch, state)
  const { resolutionRequired } = command.settings
  const reopens = state.status === 'resolved' && (fields.status === 'open' || fields.status === 'in_progress')
  return {
    ...{
      ...fields,
      ...computePriority(command, state),
      comment: command.comment,
      resolutionRequired,
      reopens,
    },
    ...(keepsPriority(command.patch) && { priorityMatrix: command.settings.priorityMatrix }),
  }
}

/**
 * Returns the patch, without the status if it equals the current one.
 * Throws validation_failed if hold or resolution fields do not fit the resulting status.
 */
function checkPatch(patch: IncidentPatch, state: IncidentState): IncidentPatch {
  const { status, ...fields } = patch
  const end = status ?? state.status
  checkHoldReason(patch, end, state)
  const resolution = (['resolutionCode', 'resolutionNotes'] as const).find(
    (name) => patch[name] !== undefined,
  )
  if (resolution !== undefined && end !== 'resolved' && end !== 'closed')
    throw invalidField(`/${resolution}`, 'not_resolved', 'A resolution goes with status resolved or closed.')
  if (
    patch.postIncidentReview !== undefined &&
    (state.status !== 'resolved' || (end !== 'resolved' && end !== 'closed'))
  )
    throw invalidField(
      '/postIncidentReview',
      'not_resolved',
      'A post-incident review is written while the incident is resolved.',
    )
  checkParent(patch.parentId, state)
  return status === state.status ? fields : patch
}

/** Whether the patch contains no field that determines the priority. */
const keepsPriority = ({ impact, urgency, priorityOverride }: IncidentPatch): boolean =>
  impact === undefined && urgency === undefined && priorityOverride === undefined

function reopening({ status, reopens }: ResolvedPatch): IncidentStep | null {
  return reopens ? { kind: 'reopen', ...(status && { to: status }) } : null
}

/** Routing to a first team or lowering the severity is an edit rather than an escalation. */
function escalation(patch: ResolvedPatch, state: IncidentState): IncidentStep | null {
  const severity =
    patch.severity !== undefined && isMoreSevere(patch.severity, state.severity) && patch.severity
  const group =
    state.assignmentGroup !== null && patch.assignmentGroup !== state.assignmentGroup && patch.assignmentGroup
  if (!severity && !group) return null
  return {
    kind: 'escalate',
    ...(severity ? { severity, priorityMatrix: patch.priorityMatrix } : {}),
    ...(group ? { assignmentGroup: group } : {}),
  }
}

function assignment({ assigneeId }: ResolvedPatch, state: IncidentState): IncidentStep | null {
  if (assigneeId === undefined || assigneeId === null || assigneeId === state.assigneeId) return null
  return { kind: 'assign', assigneeId }
}

function commenting({ comment }: ResolvedPatch): IncidentStep | null {
  return comment === undefined ? null : { kind: 'comment', comment }
}

const plainFields = [
  'title',
  'description',
  'severity',
  'impact',
  'urgency',
  'priority',
  'priorityOverride',
  'assigneeId',
  'assignmentGroup',
  'channel',
  'category',
  'ciId',
  'callerId',
  'tags',
  'parentId',
  'watcherIds',
  'problemId',
  'changeId',
  'causedByChangeId',
] as const
const resolutionFields = ['resolutionCode', 'resolutionNotes', 'postIncidentReview'] as const

type EditableField = (typeof plainFields)[number] | (typeof resolutionFields)[number] | 'holdReason'
type Editable = Pick<IncidentState, EditableField>
type FieldChanges = { [Name in EditableField]?: Editable[Name] | undefined }

/** Edits all differing fields that no earlier stage has handled. */
function edit(patch: ResolvedPatch, state: IncidentState): IncidentStep | null {
  const names: EditableField[] = [...plainFields]
  if (state.status === 'resolved') names.push(...resolutionFields)
  if (state.status === 'on_hold') names.push('holdReason')
  const fields: Partial<Editable> = {}
  for (const name of names) copyIfChanged(name, patch, state, fields)
  return Object.keys(fields).length === 0 ? null : { kind: 'edit', fields }
}

function copyIfChanged<Name extends EditableField>(
  name: Name,
  from: FieldChanges,
  state: Editable,
  into: Partial<Editable>,
): void {
  const value = from[name]
  if (value === undefined) return
  if (changedFields({ value: state[name] }, { value }).length > 0) into[name] = value
}

function statusChange({ status, ...patch }: ResolvedPatch, state: IncidentState): IncidentStep | null {
  // The incident is already reopened. With an assignee it is in progress, even if the patch asked for `open`.
  if (status === undefined || status === state.status || patch.reopens) return null
  const kind = actionTo(state.status, status)
  if (kind === 'resolve')
    return {
      kind,
      resolutionCode: patch.resolutionCode,
      resolutionNotes: patch.resolutionNotes,
      resolutionRequired: patch.resolutionRequired,
    }
  if (kind !== 'hold') return { kind }
  if (patch.holdReason === undefined)
    throw invalidField('/holdReason', 'required', 'Putting an incident on hold needs a holdReason.')
  return { kind, holdReason: patch.holdReason }
}
