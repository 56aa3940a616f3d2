import { expect, test } from '@jest/globals'
import { type AuditEvent, eventExample } from '@opsplane/contracts'
import { AuditReading, type ReadingKind } from './audit-reading.js'

const startMs = Date.parse('2026-01-31T12:00:00.000Z')
const at = (second: number) => new Date(startMs + second * 1_000).toISOString()
const event = (id: string, second: number): AuditEvent => ({
  ...{ ...eventExample('incident.created'), seq: 1, hash: '' },
  id,
  createdAt: at(second),
})

/** An audit log in which events can appear late, read as the tail does. */
function given(options: { since?: string; newest?: number }) {
  const log: AuditEvent[] = []
  const newest = options.newest === undefined ? undefined : at(options.newest)
  const reading = new AuditReading({ overlapMs: 60_000, newest, since: options.since })
  return {
    arrive: (...events: AuditEvent[]) => void log.push(...events),
    read(kind: ReadingKind): string[] {
      const from = reading.begin(kind) ?? ''
      const fresh = reading.take(log.filter(({ createdAt }) => createdAt >= from))
      reading.done(kind)
      return fresh.map(({ id }) => id)
    },
    reading,
  }
}

test('an event is read once, however often a reading meets it', () => {
  const { arrive, read } = given({ newest: 0 })
  arrive(event('a', 0))
  expect(read('first')).toEqual(['a'])
  arrive(event('b', 1))
  expect(read('narrow')).toEqual(['b'])
  expect(read('narrow')).toEqual([])
  expect(read('wide')).toEqual([])
})

test('an event that arrives behind younger ones is met: soon when little late, by the next wide reading otherwise', () => {
  const { arrive, read } = given({ newest: 0 })
  read('first')
  arrive(event('young', 100))
  expect(read('narrow')).toEqual(['young'])
  arrive(event('little late', 96), event('very late', 45))
  expect(read('narrow')).toEqual(['little late'])
  expect(read('wide')).toEqual(['very late'])
})

test('a wide reading goes back from what was known when the one before it began', () => {
  const { arrive, read } = given({ newest: 0 })
  read('first')
  arrive(event('a', 50))
  read('wide')
  arrive(event('b', 500))
  expect(read('narrow')).toEqual(['b'])
  arrive(event('late beside a', 20))
  expect(read('wide')).toEqual(['late beside a'])
  expect(read('wide')).toEqual([])
})

test('what was read is forgotten only where no reading goes back to', () => {
  const { arrive, read, reading } = given({ newest: 0 })
  for (let second = 0; second <= 600; second++) {
    arrive(event(`e${second}`, second))
    expect(read(second % 10 === 9 ? 'wide' : 'narrow')).toEqual([`e${second}`])
  }
  expect(reading.begin('wide')).toBe(at(598 - 60))
})

test('a time to begin with is the floor of every reading', () => {
  const { arrive, read, reading } = given({ since: at(100), newest: 110 })
  arrive(event('too old', 90), event('a', 105), event('b', 110))
  expect(read('first')).toEqual(['a', 'b'])
  expect(reading.begin('wide')).toBe(at(100))
})

test('a reading that was cut off is repeated without repeating its events', () => {
  const { reading } = given({ since: at(0), newest: 500 })
  expect(reading.begin('first')).toBe(at(0))
  expect(reading.take([event('a', 1)])).toHaveLength(1)
  expect(reading.begin('first')).toBe(at(0))
  expect(reading.take([event('a', 1), event('b', 400)]).map(({ id }) => id)).toEqual(['b'])
})

test('an empty log is read from its beginning', () => {
  const { arrive, read, reading } = given({})
  expect(reading.begin('first')).toBeUndefined()
  arrive(event('a', 5))
  expect(read('narrow')).toEqual(['a'])
  expect(read('narrow')).toEqual([])
})
