import type { ChangeState } from '@opsplane/contracts'
import { contentHashOf } from '../approval/approval.js'

/** The fields an approval stands for. */
const contentFields = [
  'title',
  'description',
  'type',
  'plannedStart',
  'plannedEnd',
  'implementationPlan',
  'testPlan',
  'backoutPlan',
  'impact',
  'risk',
] as const satisfies readonly (keyof ChangeState)[]

/** What people write of it, or have it judged by. */
const writtenFields = [
  ...contentFields.filter((name) => name !== 'risk'),
  'successProbability',
  'templateId',
] as const

/** Whether any of what people write became another. */
export function rewritten(before: ChangeState, after: ChangeState): boolean {
  return writtenHash(before) !== writtenHash(after)
}

const writtenHash = (change: ChangeState) => hash(change, writtenFields)

/** What is decided on. In which order the items are named is nothing. */
export function hashOf(change: ChangeState): string {
  return hash(change, contentFields)
}

function hash(change: ChangeState, names: readonly (keyof ChangeState)[]): string {
  const content = Object.fromEntries(names.map((name) => [name, change[name]]))
  return contentHashOf({ ...content, ciIds: change.ciIds.toSorted() })
}
