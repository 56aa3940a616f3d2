import type { PlatformStatus } from '../../api/api.js'
import { texts } from '../../texts/en.js'

type Service = PlatformStatus['services'][number]

/** Something that an operator has to look at: what is wrong is the figure beside it. */
export interface Trouble {
  kind: 'down' | 'unpublished' | 'consumers' | 'dueWork' | 'deadLetters'
  /** What to do next. */
  next: string
}

/** What is in hand for a moment is no trouble. */
const patienceMs = 60_000
const manyPending = 1_000
const lateSeconds = 60
const words = texts.platform.next

/** What is wrong with a service, the worst first. */
export function troublesOf({ name, state, figures }: Service, nowMs: number): Trouble[] {
  if (state !== 'up' || figures === null) return [{ kind: 'down', next: words.down(name) }]
  const { oldestUnpublishedAt, consumers, dueWork } = figures
  const isStuck = oldestUnpublishedAt !== null && nowMs - Date.parse(oldestUnpublishedAt) > patienceMs
  const behind = consumers.filter(({ pending }) => (pending ?? 0) >= manyPending)
  const late = dueWork.filter(({ late, oldestSeconds }) => late > 0 && oldestSeconds > lateSeconds)
  const letters = deadLettersOf(figures)
  const named = (found: readonly { name: string }[]) => found.map((each) => each.name).join(', ')
  return [
    ...(isStuck ? [{ kind: 'unpublished' as const, next: words.unpublished(name) }] : []),
    ...(behind.length > 0 ? [{ kind: 'consumers' as const, next: words.consumers(named(behind)) }] : []),
    ...(late.length > 0 ? [{ kind: 'dueWork' as const, next: words.dueWork(named(late)) }] : []),
    ...(letters > 0 ? [{ kind: 'deadLetters' as const, next: words.deadLetters(letters) }] : []),
  ]
}

type Figures = NonNullable<Service['figures']>

export const deadLettersOf = ({ consumers }: Figures): number =>
  consumers.reduce((sum, { deadLetters }) => sum + deadLetters, 0)

/** It stands for events that are too large for NATS, and is given none. */
const isConsumer = ({ name }: { name: string }): boolean => name !== 'relay'

/** Events that consumers have not been given; undefined while NATS is away. */
export function pendingOf({ consumers }: Figures): number | undefined {
  const known = consumers.filter(isConsumer).map(({ pending }) => pending)
  return known.includes(null) ? undefined : known.reduce<number>((sum, pending) => sum + (pending ?? 0), 0)
}

export const lateOf = ({ dueWork }: Figures): number => dueWork.reduce((sum, { late }) => sum + late, 0)

/** A figure that counts up to a limit: at it there may be more. */
export const countText = (count: number, most: number): string =>
  count >= most ? `${most.toLocaleString('en')}+` : count.toLocaleString('en')
