import type { ChangeState } from '@opsplane/contracts'
import { hashContent } from '../approval/approval.js'

/** The fields that an approval covers. */
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

/** The fields that people write or that the risk is computed from. */
const writtenFields = [
  ...contentFields.filter((name) => name !== 'risk'),
  'successProbability',
  'templateId',
] as const

/** Whether any of the written fields has changed. */
export function isRewritten(before: ChangeState, after: ChangeState): boolean {
  return hashWrittenFields(before) !== hashWrittenFields(after)
}

const hashWrittenFields = (change: ChangeState) => hashFields(change, writtenFields)

/** Hash of the content under approval. The order of the items does not matter. */
export function hashChange(change: ChangeState): string {
  return hashFields(change, contentFields)
}

function hashFields(change: ChangeState, names: readonly (keyof ChangeState)[]): string {
  const content = Object.fromEntries(names.map((name) => [name, change[name]]))
  return hashContent({ ...content, ciIds: change.ciIds.toSorted() })
}
