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

/** What is decided on. In which order the items are named is nothing. */
export function hashOf(change: ChangeState): string {
  const content = Object.fromEntries(contentFields.map((name) => [name, change[name]]))
  return contentHashOf({ ...content, ciIds: change.ciIds.toSorted() })
}
