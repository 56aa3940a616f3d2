import { statSync } from 'node:fs'
import { createRequire } from 'node:module'
import type sequencer from '@jest/test-sequencer'

const { default: Sequencer } = createRequire(import.meta.url)('@jest/test-sequencer') as typeof sequencer
type Tests = Parameters<InstanceType<typeof Sequencer>['sort']>[0]

/** A line of a test that starts services, and of one that starts all of them, beside one of pure functions. */
const weights: readonly [RegExp, number][] = [
  [/\.e2e\.test\.js$/, 5],
  [/\.int\.test\.js$/, 3],
]

/** What takes longest first, also on a machine where nothing is known of earlier runs: else it would be waited for at the end. */
export default class LongestFirst extends Sequencer {
  override async sort(tests: Tests): Promise<Tests> {
    const sorted = await super.sort(tests)
    if (sorted.some(({ duration }) => duration !== undefined)) return sorted
    const expected = new Map(sorted.map(({ path }) => [path, expectedLength(path)]))
    return sorted.toSorted((a, b) => (expected.get(b.path) ?? 0) - (expected.get(a.path) ?? 0))
  }
}

function expectedLength(path: string): number {
  const [, weight] = weights.find(([pattern]) => pattern.test(path)) ?? []
  return statSync(path).size * (weight ?? 1)
}
