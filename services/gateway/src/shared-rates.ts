import type { RateSpends } from '@opsplane/contracts'

/** What this gateway has taken of one bucket since it said so last. */
export type RateSpend = RateSpends['spends'][number]

/** Counts for all gateways; answers with what each bucket has left, in the order of the spends. */
export type SpendRates = (spends: RateSpend[]) => Promise<number[]>

export interface SharedRates {
  /** Resolves with what is left of the bucket for all gateways, undefined without an answer. */
  spend(spend: RateSpend): Promise<number | undefined>
}

const maxAtOnce = 500
const pauseAfterFailureMs = 1_000

/** All spends of one turn of the event loop go in one request; one is in flight at a time. After a failure there is none for a second. */
export function createSharedRates(ask: SpendRates, monotonicMs: () => number): SharedRates {
  const waiting: { spend: RateSpend; resolve: (left: number | undefined) => void }[] = []
  let asking = false
  let silentUntil = 0

  const askAll = async () => {
    asking = true
    const asked = waiting.splice(0, maxAtOnce)
    const left = await ask(asked.map(({ spend }) => spend)).catch(() => undefined)
    if (left === undefined) silentUntil = monotonicMs() + pauseAfterFailureMs
    for (const [at, { resolve }] of asked.entries()) resolve(left?.[at])
    asking = false
    if (waiting.length > 0) begin()
  }
  const begin = () => setImmediate(() => void askAll())

  return {
    spend(spend) {
      if (monotonicMs() < silentUntil) return Promise.resolve(undefined)
      return new Promise((resolve) => {
        if (waiting.push({ spend, resolve }) === 1 && !asking) begin()
      })
    },
  }
}
