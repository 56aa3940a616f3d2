import { invalidField } from '@opsplane/contracts'
import type { ChangeRecord } from './approval/separation-of-duties.js'
import type { CreateChange } from './commands.js'
import { computeRisk } from './policy/risk.js'
import { buildDraft } from './template/from-template.js'

/** Returns a new change: a draft without approvals. */
export function buildInitialChange({
  id,
  number,
  by,
  userId,
  now,
  input,
  facts,
  agreed,
}: CreateChange): ChangeRecord {
  const entered = buildDraft(input, agreed)
  return checkFields({
    id,
    number,
    ...entered,
    status: 'draft',
    requester: by,
    requesterId: userId,
    actualStart: null,
    actualEnd: null,
    ...computeRisk(entered, facts),
    onHold: false,
    holdReason: null,
    approvals: [],
    approvalPolicy: null,
    conflicts: [],
    outcome: null,
    closeNotes: null,
    reviewNotes: null,
    rejectionReason: null,
    cancelReason: null,
    editorIds: [],
    implementerIds: [],
    createdAt: now,
    updatedAt: now,
  })
}

/** Returns the change unchanged if its fields are consistent. Throws validation_failed naming the one that is not. */
export function checkFields(change: ChangeRecord): ChangeRecord {
  const { plannedStart, plannedEnd, templateId, type } = change
  if (plannedStart === null && plannedEnd !== null)
    throw invalidField('/plannedStart', 'required', 'A planned end needs a planned start.')
  if (plannedStart !== null && plannedEnd === null)
    throw invalidField('/plannedEnd', 'required', 'A planned start needs a planned end.')
  if (plannedStart !== null && plannedEnd !== null && plannedEnd <= plannedStart)
    throw invalidField('/plannedEnd', 'not_after_start', 'The planned end must be later than the start.')
  if (templateId !== null && type !== 'standard')
    throw invalidField('/templateId', 'not_standard', 'Only a standard change has a template.')
  return change
}
