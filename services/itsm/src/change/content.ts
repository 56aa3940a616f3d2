import type { ChangeState } from '@opsplane/contracts'
import { hashContent } from '../approval/approval.js'

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
export function isRewritten(before: ChangeState, after: ChangeState): boolean {
  return hashWrittenFields(before) !== hashWrittenFields(after)
}

const hashWrittenFields = (change: ChangeState) => hashFields(change, writtenFields)

/** What is decided on. In which order the items are named is nothing. */
export function hashChange(change: ChangeState): string {
  return hashFields(change, contentFields)
}

function hashFields(change: ChangeState, names: readonly (keyof ChangeState)[]): string {
  const content = Object.fromEntries(names.map((name) => [name, change[name]]))
  return hashContent({ ...content, ciIds: change.ciIds.toSorted() })
}
