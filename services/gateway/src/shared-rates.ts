import type { RateSpends } from '@opsplane/contracts'

/** Units this gateway has taken from one bucket since its last report. */
export type RateSpend = RateSpends['spends'][number]

/** Counts for all gateways; returns the remainder of each bucket, in the order of the spends. */
export type SpendRates = (spends: RateSpend[]) => Promise<number[]>

export interface SharedRates {
  /** Resolves with the remainder of the bucket over all gateways; `undefined` if there is no response. */
  spend(spend: RateSpend): Promise<number | undefined>
}

const maxAtOnce = 500
const pauseAfterFailureMs = 1_000

/**
 * All spends of one turn of the event loop share one request; one request is in flight at a time. After a failure none
 * is sent for a second.
 */
export function createSharedRates(spendRates: SpendRates, monotonicMs: () => number): SharedRates {
  const waiting: { spend: RateSpend; resolve: (left: number | undefined) => void }[] = []
  let isSending = false
  let silentUntil = 0

  const sendBatch = async () => {
    isSending = true
    const batch = waiting.splice(0, maxAtOnce)
    const left = await spendRates(batch.map(({ spend }) => spend)).catch(() => undefined)
    if (left === undefined) silentUntil = monotonicMs() + pauseAfterFailureMs
    for (const [at, { resolve }] of batch.entries()) resolve(left?.[at])
    isSending = false
    if (waiting.length > 0) begin()
  }
  const begin = () => setImmediate(() => void sendBatch())

  return {
    spend(spend) {
      if (monotonicMs() < silentUntil) return Promise.resolve(undefined)
      return new Promise((resolve) => {
        if (waiting.push({ spend, resolve }) === 1 && !isSending) begin()
      })
    },
  }
}
