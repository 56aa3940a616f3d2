import { fileURLToPath } from 'node:url'
import { describe, expect, test } from '@jest/globals'
import { currentTestFile } from './current-test.js'
import { findLimits } from './limits.js'
import { longTier } from './runs/long-tier.js'

describe('the limits of a test file', () => {
  test.each([
    ['libs/runtime/dist/clock.test.js', 15_000],
    ['services/itsm/dist/incident/auto-close.int.test.js', 60_000],
    ['test-e2e/dist/studio.e2e.test.js', 120_000],
    // A program shared by test files starts once; its start is limited by the timeouts of the tests that wait for it.
    [undefined, 120_000],
  ])('%s: waits end after %i ms', (path, waitMs) => {
    expect(findLimits(path, {}).waitMs).toBe(waitMs)
  })

  test('leave time for several waits in one test', () => {
    for (const path of ['a.test.js', 'a.int.test.js', 'a.e2e.test.js']) {
      const { waitMs, testMs } = findLimits(path, {})
      expect(testMs).toBeGreaterThan(2 * waitMs)
    }
  })

  test.each(Object.keys(longTier))('allow for hours if %s is set', (name) => {
    expect(findLimits('a.test.js', { [name]: '1' }).waitMs).toBeGreaterThan(1_000_000)
  })

  test('depend on the current test file', () => {
    expect(currentTestFile()).toBe(fileURLToPath(import.meta.url))
  })
})
