import type { FailureGroup } from '../../api/api.js'
import { texts } from '../../texts/en.js'

type Counted = Pick<FailureGroup, 'count' | 'isMore'>

/** A group of failures, as a column shows it. The times are absent if only the count is known. */
export interface FailureRow extends Counted {
  id: string
  cause: FailureGroup['cause']
  target: { name: string }
  firstAt?: string
  lastAt?: string
}

/** The total count; `isMore` marks it as a minimum. */
export function sumGroups(groups: readonly Counted[], hasMore: boolean): Counted {
  return {
    count: groups.reduce((sum, { count }) => sum + count, 0),
    isMore: hasMore || groups.some(({ isMore }) => isMore),
  }
}

const causes: Readonly<Record<string, unknown>> = texts.causes

/** The console's text for the code if it has one, otherwise the message of the service without its full stop. */
export function describeFailure({ code, message }: FailureGroup['cause']): string {
  const words = causes[code]
  return typeof words === 'string' ? words : message.replace(/(?<!\.)\.$/, '')
}
