import { statSync } from 'node:fs'
import { createRequire } from 'node:module'
import type sequencer from '@jest/test-sequencer'

const { default: Sequencer } = createRequire(import.meta.url)('@jest/test-sequencer') as typeof sequencer
type Tests = Parameters<InstanceType<typeof Sequencer>['sort']>[0]

/** Weight per line of tests that start all services (e2e) or some (int), relative to tests of pure functions. */
const weights: readonly [RegExp, number][] = [
  [/\.e2e\.test\.js$/, 5],
  [/\.int\.test\.js$/, 3],
]

/** Seconds of files that take longer than their length suggests: a simulation that runs last keeps a single core busy. */
const slow: readonly [RegExp, number][] = [
  [/(?:dispatcher|consumer|relay|spans)-simulation\.test\.js$/, 40],
  [/(?:event-json-schema|json-schema\/dist\/agreement|gateway\/dist\/waiting)\.test\.js$/, 30],
  [/sandbox\/dist\/.*(?:pool|hostile|code)[^/]*\.test\.js$/, 20],
  [/(?:replicas|crash|telemetry|service-desk|installations)\.(?:e2e|int)\.test\.js$/, 90],
  [/(?:rebuild|rolling-restart|relay-loss|relay-lease|durable-consumer|facts)\.int\.test\.js$/, 60],
]
/** Maximum bytes of a test of pure functions that runs for one second. */
const perSecond = 1_000

/** Runs the longest files first, also without data from earlier runs: otherwise the run would wait for them at the end. */
export default class LongestFirst extends Sequencer {
  override async sort(tests: Tests): Promise<Tests> {
    const sorted = await super.sort(tests)
    if (sorted.some(({ duration }) => duration !== undefined)) return sorted
    const expected = new Map(sorted.map(({ path }) => [path, expectedLength(path)]))
    return sorted.toSorted((a, b) => (expected.get(b.path) ?? 0) - (expected.get(a.path) ?? 0))
  }
}

/** Estimated duration of a test file without data from earlier runs; higher for files that start more services. */
export function expectedLength(path: string): number {
  const [, weight = 1] = weights.find(([pattern]) => pattern.test(path)) ?? []
  const [, seconds = 0] = slow.find(([pattern]) => pattern.test(path)) ?? []
  return Math.max(statSync(path).size * weight, seconds * perSecond)
}
