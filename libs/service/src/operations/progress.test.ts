import { expect, test } from '@jest/globals'
import type { EventConsumer } from '@opsplane/eventstore'
import type { NatsLink } from '@opsplane/nats'
import { readPositionsInTime } from './progress.js'

const link = { connected: () => true } as NatsLink
const consumersWith = (place: EventConsumer['place']) => new Map([['itsm-audit', { place } as EventConsumer]])

test('consumer positions are unknown if NATS does not answer before the deadline', async () => {
  const deadline = new AbortController()
  const asked = readPositionsInTime(
    link,
    consumersWith(() => new Promise(() => undefined)),
    deadline.signal,
  )
  deadline.abort()
  expect(await asked).toEqual([])
  const silent = consumersWith(() => new Promise(() => undefined))
  expect(await readPositionsInTime(link, silent, AbortSignal.abort())).toEqual([])
})

test('consumer positions are reported if NATS answers in time', async () => {
  const consumers = consumersWith(async () => ({ ackFloor: 1, delivered: 2, pending: 3, ackPending: 1 }))
  const { signal } = new AbortController()
  expect(await readPositionsInTime(link, consumers, signal)).toEqual([
    { durable: 'itsm-audit', pending: 3, ackPending: 1 },
  ])
})
