import { retryDelayMs } from '@opsplane/runtime'

interface Record {
  /** Until then it counts as slow. */
  slowUntil: number
  /** Children it has cost since it was last forgiven. */
  strikes: number
  waitsUntil: number
}

const slowMs = 50
const slowForMs = 10_000
const strikeForMs = 60_000
const keptRecords = 1_000

/** What is known of how long tenants' requests took: whoever was slow or cost a child must leave room for the others. */
export function createConduct() {
  const records = new Map<string, Record>()
  const recordOf = (tenant: string, now: number) => {
    const known = records.get(tenant)
    if (known && known.slowUntil > now) return known
    if (records.size >= keptRecords) forgive(records, now)
    const fresh = { slowUntil: 0, strikes: 0, waitsUntil: 0 }
    records.set(tenant, fresh)
    return fresh
  }
  return {
    isSlow: (tenant: string, now: number): boolean => (records.get(tenant)?.slowUntil ?? 0) > now,
    /** When its next request may start; 0 where it may at once. */
    waitsUntil: (tenant: string): number => records.get(tenant)?.waitsUntil ?? 0,
    answered(tenant: string, tookMs: number, now: number): void {
      if (tookMs < slowMs) return
      const record = recordOf(tenant, now)
      record.slowUntil = Math.max(record.slowUntil, now + slowForMs)
    },
    /** Its request has cost a child: the next waits, longer with each in a row. */
    struck(tenant: string, now: number): void {
      const record = recordOf(tenant, now)
      record.strikes += 1
      record.slowUntil = now + strikeForMs
      const delayMs = retryDelayMs({
        attempt: record.strikes,
        strategy: 'exponential',
        baseMs: 50,
        maxMs: 5_000,
      })
      record.waitsUntil = now + delayMs
    },
  }
}

function forgive(records: Map<string, Record>, now: number): void {
  for (const [tenant, { slowUntil }] of records) if (slowUntil <= now) records.delete(tenant)
}
