import { expect, test } from '@jest/globals'
import type { EventConsumer } from '@opsplane/eventstore'
import type { NatsLink } from '@opsplane/nats'
import { readPositionsInTime } from './progress.js'

const link = { connected: () => true } as NatsLink
const consumersWith = (place: EventConsumer['place']) => new Map([['itsm-audit', { place } as EventConsumer]])

test('where NATS is silent, it is unknown how far consumers are once the time is up', async () => {
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

test('what NATS answers in time is known', async () => {
  const consumers = consumersWith(async () => ({ ackFloor: 1, delivered: 2, pending: 3, ackPending: 1 }))
  const { signal } = new AbortController()
  expect(await readPositionsInTime(link, consumers, signal)).toEqual([
    { durable: 'itsm-audit', pending: 3, ackPending: 1 },
  ])
})
