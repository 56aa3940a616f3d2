import type { Refill } from '../refill-outbox.js'
import { type Lease, leaseMs, type Progress, type RelayStore } from '../relay-store.js'
import type { StreamMark } from '../stream-marks.js'
import type { LogInMemory, MarkRow } from './log-in-memory.fixture.js'

/** Changes the tables atomically. */
type Commit = <T>(act: () => T) => Promise<T>

const abandonedMs = 10_000

/**
 * The relay's statements over in-memory tables. They pass the same test cases as the SQL statements
 * (`relay-store.int.test.ts`).
 */
export function relayStoreInMemory(log: LogInMemory, commit: Commit, monotonicMs: () => number): RelayStore {
  const isHeld = ({ owner, fence }: Lease): boolean => {
    const { lease } = log
    if (lease?.owner !== owner || String(lease.fence) !== fence) return false
    lease.expiresAt = log.now() + leaseMs
    return true
  }
  return {
    acquireLease: (owner, fence) => commit(() => takeLease(log, owner, fence)),
    release: ({ owner, fence }) =>
      commit(() => {
        const { lease } = log
        if (lease?.owner === owner && String(lease.fence) === fence)
          lease.expiresAt = Number.NEGATIVE_INFINITY
      }),
    poll: (after, limit, lease) =>
      commit(() => ({
        isLeaseHeld: lease ? isHeld(lease) : undefined,
        workspaces: waitingAbove(log, after, limit),
      })),
    edge: () => commit(() => log.edge()),
    events: (positions) =>
      commit(() =>
        positions.flatMap((position) => (log.outbox.has(position) ? (log.events.get(position) ?? []) : [])),
      ),
    record: (lease, progress) =>
      commit(() => {
        const held = isHeld(lease)
        if (held) record(log, progress)
        return held
      }),
    giveUp: (lease, event) =>
      commit(() => {
        if (!isHeld(lease)) return
        log.outbox.delete(Number(event.position))
        log.deadLetters.push(event.id)
      }),
    marks: () => commit(() => log.now()).then((at) => marksOf(log, monotonicMs() - at)),
    refill: (lease, from) => commit(() => (isHeld(lease) ? refill(log, from) : undefined)),
  }
}

function takeLease(log: LogInMemory, owner: string, fence: string | undefined): Lease | { freeInMs: number } {
  const now = log.now()
  const { lease } = log
  if (!lease) {
    log.lease = { owner, fence: 1, expiresAt: now + leaseMs }
    return { owner, fence: '1' }
  }
  const freeInMs = Number.isFinite(lease.expiresAt) ? lease.expiresAt - now : 0
  const isOwn = lease.owner === owner && (fence === undefined || String(lease.fence) === fence)
  const isWanted = fence === undefined || log.outbox.size > 0 || lease.expiresAt < now - abandonedMs
  if (!isOwn && !(lease.expiresAt < now && isWanted)) return { freeInMs }
  const next = lease.fence + (lease.owner !== owner || fence === undefined ? 1 : 0)
  log.lease = { owner, fence: next, expiresAt: now + leaseMs }
  return { owner, fence: String(next) }
}

function waitingAbove({ outbox }: LogInMemory, after: number, limit: number) {
  const found = [...outbox].filter(([position]) => position > after).sort(([one], [other]) => one - other)
  const workspaces = new Map<string, number[]>()
  for (const [position, { workspaceId }] of found.slice(0, limit))
    workspaces.set(workspaceId, [...(workspaces.get(workspaceId) ?? []), position])
  return [...workspaces].map(([workspaceId, positions]) => ({ workspaceId, positions }))
}

function record(log: LogInMemory, { done, mark, superfluous }: Progress): void {
  for (const position of done) log.outbox.delete(position)
  for (const number of superfluous) log.marks.delete(number)
  if (!mark) return
  const { at: _, ...kept } = mark
  const { sequence, messageId, floor } = mark
  const before = log.marks.get(mark.number)
  log.marks.set(
    mark.number,
    before ? { ...before, sequence, messageId, floor } : { ...kept, createdAt: log.now() },
  )
}

function marksOf({ marks }: LogInMemory, offsetMs: number): StreamMark[] {
  return [...marks.values()]
    .sort((one, other) => one.number - other.number)
    .map(({ createdAt, ...mark }: MarkRow) => ({ ...mark, at: createdAt + offsetMs }))
}

/** All events are younger than the stream's maximum age. */
function refill(log: LogInMemory, { standing, identity, last, generation }: Refill) {
  const floor = standing?.floor ?? 0
  let events = 0
  for (const [position, { workspaceId, id }] of log.events) {
    if (position <= floor || log.outbox.has(position)) continue
    log.outbox.set(position, { workspaceId, eventId: id })
    events++
  }
  const mark = standing ?? { number: 1, sequence: last, messageId: null }
  for (const number of log.marks.keys()) if (!standing || number >= mark.number) log.marks.delete(number)
  const { number, sequence, messageId } = mark
  log.marks.set(number, { number, identity, generation, sequence, messageId, floor, createdAt: log.now() })
  return { floor, events }
}
