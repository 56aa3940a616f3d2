import { retryDelayMs } from '@opsplane/runtime'
import { LRUCache } from 'lru-cache'

interface Conduct {
  /** Quick answers in a row. */
  quick: number
  slowUntil: number
  /** Children it has cost in a row. */
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

/** What is known of tenants, by how long their requests took and whether they cost a child; by it they have places. */
export function createTenantStats() {
  const known = new LRUCache<string, Conduct>({ max: keptTenants })
  const of = (tenant: string) => known.peek(tenant) ?? unknown
  return {
    /** Has been slow lately, or has cost a child. */
    isSlow: (tenant: string, now: number): boolean => of(tenant).slowUntil > now,
    /** Its last requests were all quick ones. */
    isTrusted: (tenant: string): boolean => of(tenant).quick >= trustedAfter,
    /** Has cost several children in a row. */
    isHarmful: (tenant: string): boolean => of(tenant).strikes >= harmfulStrikes,
    /** When its next request may start; 0 where it may at once. */
    waitsUntil: (tenant: string): number => of(tenant).waitsUntil,
    answered(tenant: string, tookMs: number, now: number): void {
      const before = of(tenant)
      if (tookMs >= slowMs) {
        const slowUntil = Math.max(before.slowUntil, now + slowForMs)
        known.set(tenant, { ...before, quick: 0, slowUntil })
      } else if (before.slowUntil <= now) {
        known.set(tenant, { ...unknown, quick: before.quick + 1 })
      }
    },
    /** Its request has cost a child: the next waits, longer with each in a row. */
    struck(tenant: string, now: number): void {
      const strikes = of(tenant).slowUntil > now ? of(tenant).strikes + 1 : 1
      const waitMs = retryDelayMs({ attempt: strikes, strategy: 'exponential', baseMs: 50, maxMs: 5_000 })
      known.set(tenant, { quick: 0, slowUntil: now + strikeForMs, strikes, waitsUntil: now + waitMs })
    },
  }
}
