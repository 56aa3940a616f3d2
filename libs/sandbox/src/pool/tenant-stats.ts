import { retryDelayMs } from '@opsplane/runtime'
import { LRUCache } from 'lru-cache'

interface Conduct {
  /** Number of consecutive quick answers. */
  quick: number
  slowUntil: number
  /** Number of children that failed in a row because of the tenant. */
  strikes: number
  waitsUntil: number
}

const slowMs = 200
const slowForMs = 10_000
const strikeForMs = 60_000
const harmfulStrikes = 3
const trustedAfter = 20
const keptTenants = 10_000
const unknown: Conduct = { quick: 0, slowUntil: 0, strikes: 0, waitsUntil: 0 }

/**
 * Statistics by tenant: how long its requests took, and whether they made a child fail. The pool assigns children
 * accordingly.
 */
export function createTenantStats() {
  const known = new LRUCache<string, Conduct>({ max: keptTenants })
  const of = (tenant: string) => known.peek(tenant) ?? unknown
  return {
    /** Whether the tenant was slow recently, or made a child fail. */
    isSlow: (tenant: string, now: number): boolean => of(tenant).slowUntil > now,
    /** Whether its last requests were all quick. */
    isTrusted: (tenant: string): boolean => of(tenant).quick >= trustedAfter,
    /** Whether several children in a row failed because of it. */
    isHarmful: (tenant: string): boolean => of(tenant).strikes >= harmfulStrikes,
    /** When its next request may start; 0 if it may start immediately. */
    waitsUntil: (tenant: string): number => of(tenant).waitsUntil,
    answered(tenant: string, durationMs: number, now: number): void {
      const before = of(tenant)
      if (durationMs >= slowMs) {
        const slowUntil = Math.max(before.slowUntil, now + slowForMs)
        known.set(tenant, { ...before, quick: 0, slowUntil })
      } else if (before.slowUntil <= now) {
        known.set(tenant, { ...unknown, quick: before.quick + 1 })
      }
    },
    /** Its request made a child fail: the next one is delayed, longer with each consecutive failure. */
    struck(tenant: string, now: number): void {
      const strikes = of(tenant).slowUntil > now ? of(tenant).strikes + 1 : 1
      const waitMs = retryDelayMs({ attempt: strikes, strategy: 'exponential', baseMs: 50, maxMs: 5_000 })
      known.set(tenant, { quick: 0, slowUntil: now + strikeForMs, strikes, waitsUntil: now + waitMs })
    },
  }
}
