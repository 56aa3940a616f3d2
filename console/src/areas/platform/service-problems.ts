import type { PlatformStatus } from '../../api/api.js'
import { texts } from '../../texts/en.js'

type Service = PlatformStatus['services'][number]

/** A problem that an operator has to solve; its figure is marked in the table. */
export interface ServiceProblem {
  kind: 'down' | 'silent' | 'unpublished' | 'consumers' | 'dueWork' | 'deadLetters'
  /** The recommended next step. */
  next: string
}

/** Shorter delays are normal. */
const patienceMs = 60_000
const manyPending = 1_000
const lateSeconds = 60
const words = texts.platform.next

/** The problems of a service, most severe first. */
export function findProblems({ name, state, figures }: Service, nowMs: number): ServiceProblem[] {
  if (state !== 'up') return [{ kind: 'down', next: words.down(name) }]
  if (figures === null) return [{ kind: 'silent', next: words.silent(name) }]
  const { oldestUnpublishedAt, consumers, dueWork } = figures
  const isStuck = oldestUnpublishedAt !== null && nowMs - Date.parse(oldestUnpublishedAt) > patienceMs
  const behind = consumers.filter(({ pending }) => (pending ?? 0) >= manyPending)
  const late = dueWork.filter(({ late, oldestSeconds }) => late > 0 && oldestSeconds > lateSeconds)
  const letters = countDeadLetters(figures)
  const joinNames = (found: readonly { name: string }[]) => found.map((each) => each.name).join(', ')
  return [
    ...(isStuck ? [{ kind: 'unpublished' as const, next: words.unpublished(name) }] : []),
    ...(behind.length > 0 ? [{ kind: 'consumers' as const, next: words.consumers(joinNames(behind)) }] : []),
    ...(late.length > 0 ? [{ kind: 'dueWork' as const, next: words.dueWork(joinNames(late)) }] : []),
    ...(letters > 0 ? [{ kind: 'deadLetters' as const, next: words.deadLetters(letters) }] : []),
  ]
}

/** Whether NATS is unreachable: a running service then cannot report the pending events of its consumers. */
export const isNatsAway = (services: readonly Service[]): boolean =>
  services.some(
    ({ state, figures }) => state === 'up' && figures !== null && countPending(figures) === undefined,
  )

type Figures = NonNullable<Service['figures']>

export const countDeadLetters = ({ consumers }: Figures): number =>
  consumers.reduce((sum, { deadLetters }) => sum + deadLetters, 0)

/** `relay` is not a consumer: it stands for events too large for NATS and has no pending count. */
const isConsumer = ({ name }: { name: string }): boolean => name !== 'relay'

/** Events not yet delivered to consumers; `undefined` while NATS is unreachable. */
export function countPending({ consumers }: Figures): number | undefined {
  const known = consumers.filter(isConsumer).map(({ pending }) => pending)
  return known.includes(null) ? undefined : known.reduce<number>((sum, pending) => sum + (pending ?? 0), 0)
}

export const countLate = ({ dueWork }: Figures): number => dueWork.reduce((sum, { late }) => sum + late, 0)

/** Formats a count that is capped at `most`: a count at the cap is shown as "at least". */
export const countText = (count: number, most: number): string =>
  count >= most ? `${most.toLocaleString('en')}+` : count.toLocaleString('en')
