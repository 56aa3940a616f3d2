import { isLongTier } from './runs/long-tier.js'

/** What bounds a hang, in milliseconds: one limit for each kind of test file, and none of a test's own. */
export interface TestLimits {
  /** Of a `waitFor`, which fails with what it saw last. */
  waitMs: number
  /** Of a test and of a hook: a few waits, one after the other. */
  testMs: number
}

/** An end-to-end test may start the whole platform, on a machine that has other things to do. */
const limits = {
  unit: { waitMs: 15_000, testMs: 120_000 },
  int: { waitMs: 60_000, testMs: 240_000 },
  e2e: { waitMs: 120_000, testMs: 480_000 },
} satisfies Record<string, TestLimits>

/** Of the long tier, where a test repeats for hours what it does once otherwise. */
const long: TestLimits = { waitMs: 3_600_000, testMs: 7_200_000 }

/** The limits of a test file, or of whatever is no test file; which kind it is stands in its name. */
export function findLimits(path = '', env: Record<string, string | undefined> = process.env): TestLimits {
  if (isLongTier(env)) return long
  if (/\.test\.[jt]s$/.test(path) && !/\.(?:int|e2e)\.test\./.test(path)) return limits.unit
  return path.includes('.int.test.') ? limits.int : limits.e2e
}
