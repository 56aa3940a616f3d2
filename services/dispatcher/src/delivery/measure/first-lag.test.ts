import { expect, test } from '@jest/globals'
import { idTime, newId } from '@opsplane/contracts'
import { createMetrics } from '@opsplane/telemetry'
import { measureFirstLag } from './first-lag.js'

/** A delivery of an event that occurs now; `pass` advances the clocks. */
function open() {
  const metrics = createMetrics({ service: 'dispatcher' })
  const delivery = { deliveryId: newId('delivery'), attempts: 0 }
  let elapsedMs = 0
  const lag = measureFirstLag({
    metrics,
    nowMs: () => idTime(delivery.deliveryId) + elapsedMs,
    now: () => elapsedMs,
  })
  const sums = async () => {
    const text = await metrics.text()
    return ['opsplane_delivery_lag_seconds', 'opsplane_webhook_queue_wait_seconds'].map((name) =>
      ['sum', 'count'].map((part) => Number(new RegExp(`${name}_${part}.* (.*)`).exec(text)?.[1])),
    )
  }
  return { delivery, lag, sums, pass: (ms: number) => (elapsedMs += ms) }
}

test('both metrics exist with the value zero before the first attempt', async () => {
  expect(await open().sums()).toEqual([
    [0, 0],
    [0, 0],
  ])
})

test('a delivery that is not held up has its full age as lag', async () => {
  const { delivery, lag, sums, pass } = open()
  pass(20_000)
  lag.started(delivery)
  expect(await sums()).toEqual([
    [20, 1],
    [0, 0],
  ])
})

test('a delivery that waits in memory for its webhook has only the time before that wait as lag', async () => {
  const { delivery, lag, sums, pass } = open()
  pass(1_000)
  const heldUp = { ...delivery, heldUpSince: 1_000 }
  pass(59_000)
  lag.started(heldUp)
  expect(await sums()).toEqual([
    [1, 1],
    [60, 1],
  ])
})

test('a delivery that waits in Postgres for its webhook has only the time before as lag, counted once', async () => {
  const { delivery, lag, sums, pass } = open()
  pass(1_000)
  lag.left({ ...delivery, heldUpSince: 1_000 })
  pass(59_000)
  lag.started({ ...delivery, claimed: true })
  expect(await sums()).toEqual([
    [1, 1],
    [60, 1],
  ])
})

test('a delivery that waits in Postgres because the platform has no room has its full age as lag', async () => {
  const { delivery, lag, sums, pass } = open()
  lag.left(delivery)
  pass(20_000)
  lag.started({ ...delivery, claimed: true })
  expect(await sums()).toEqual([
    [20, 1],
    [0, 0],
  ])
})

test('retries are not measured as first attempts', async () => {
  const { delivery, lag, sums } = open()
  lag.started({ ...delivery, attempts: 1, claimed: true })
  expect(await sums()).toEqual([
    [0, 0],
    [0, 0],
  ])
})
