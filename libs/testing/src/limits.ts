import { isLongTier } from './runs/long-tier.js'

/** Timeouts in milliseconds: one set for each kind of test file; single tests have no own timeouts. */
export interface TestLimits {
  /** Timeout of a `waitFor`, which then fails with the last value or error. */
  waitMs: number
  /** Timeout of a test or hook: enough for a few consecutive waits. */
  testMs: number
}

/** End-to-end tests may start the whole platform, on a busy machine. */
const limits = {
  unit: { waitMs: 15_000, testMs: 120_000 },
  int: { waitMs: 60_000, testMs: 240_000 },
  e2e: { waitMs: 120_000, testMs: 480_000 },
} satisfies Record<string, TestLimits>

/** Timeouts of the long tier, where a test repeats for hours what it otherwise does once. */
const long: TestLimits = { waitMs: 3_600_000, testMs: 7_200_000 }

/** Timeouts for a test file or any other file, determined by its name. */
export function findLimits(path = '', env: Record<string, string | undefined> = process.env): TestLimits {
  if (isLongTier(env)) return long
  if (/\.test\.[jt]s$/.test(path) && !/\.(?:int|e2e)\.test\./.test(path)) return limits.unit
  return path.includes('.int.test.') ? limits.int : limits.e2e
}
