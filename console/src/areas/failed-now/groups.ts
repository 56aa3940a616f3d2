import type { FailureGroup } from '../../api/api.js'
import { texts } from '../../texts/en.js'

type Counted = Pick<FailureGroup, 'count' | 'isMore'>

/** A group of failures as a column shows it. Of some only the number is known, and not when they failed. */
export interface FailureRow extends Counted {
  id: string
  cause: FailureGroup['cause']
  target: { name: string }
  firstAt?: string
  lastAt?: string
}

/** How many there are in all, and whether that is the least. */
export function sumGroups(groups: readonly Counted[], hasMore: boolean): Counted {
  return {
    count: groups.reduce((sum, { count }) => sum + count, 0),
    isMore: hasMore || groups.some(({ isMore }) => isMore),
  }
}

const causes: Readonly<Record<string, unknown>> = texts.causes

/** In words of the console where it has some for the code, else the message of the service without its full stop. */
export function describeFailure({ code, message }: FailureGroup['cause']): string {
  const words = causes[code]
  return typeof words === 'string' ? words : message.replace(/(?<!\.)\.$/, '')
}
