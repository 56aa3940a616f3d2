import type { DeadLetter, WorkspaceStatus } from '../../api/api.js'
import { texts } from '../../texts/en.js'
import type { FailureRow } from './groups.js'

/** Dead letters of one consumer with the same cause. */
export interface LetterGroup extends FailureRow {
  service: DeadLetter['service']
}

/** A count of this size means "at least". */
const maxCount = 10_000
const causeOf = (code: string | null) => ({
  code: code ?? 'unknown',
  message: code === null ? texts.failed.unknownCause : texts.failed.letterCause(code),
})

/** Groups by consumer and cause, from the figures of a workspace. */
export const groupStatusFigures = ({ services }: WorkspaceStatus): LetterGroup[] =>
  services.flatMap(({ name: service, figures }) =>
    (figures?.deadLetters ?? []).map(({ consumer, cause, count }) => ({
      ...{ id: `${consumer} ${cause}`, service, cause: causeOf(cause), target: { name: consumer } },
      ...{ count, isMore: count >= maxCount },
    })),
  )

/** Groups a list of dead letters, newest first; unlike the figures, the list also contains the times. */
export function groupDeadLetters(letters: readonly DeadLetter[]): LetterGroup[] {
  const groups = new Map<string, LetterGroup>()
  for (const { service, consumer, cause, createdAt } of letters) {
    const id = `${service} ${consumer} ${cause}`
    const known = groups.get(id)
    groups.set(id, {
      ...{ id, service, cause: causeOf(cause), target: { name: consumer }, isMore: false },
      count: (known?.count ?? 0) + 1,
      ...{ firstAt: createdAt, lastAt: known?.lastAt ?? createdAt },
    })
  }
  return [...groups.values()]
}
