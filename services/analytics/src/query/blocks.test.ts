import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { type BlockRun, computeCover, sliceMs, staleBlocks, topLevel } from './blocks.js'

const slice = fc.integer({ min: 0, max: 100_000 })
const mark = fc.record({ level: fc.integer({ min: 0, max: topLevel }), at: slice })
const lengthOf = (level: number) => sliceMs * 4 ** level
const rangeOf = ({ level, first, last }: BlockRun) => ({
  from: first * lengthOf(level),
  to: (last + 1) * lengthOf(level),
})

describe('the blocks and spans that a query reads', () => {
  it('cover its range exactly once, without stale blocks', () => {
    fc.assert(
      fc.property(
        slice,
        slice,
        fc.array(mark, { maxLength: 8 }),
        fc.integer({ min: 0, max: 2 }),
        (a, b, marks, lowest) => {
          const [from, to] = [Math.min(a, b) * sliceMs + 7, Math.max(a, b) * sliceMs + 8]
          const marked = marks.map(({ level, at }) => ({ level, block: Math.floor(at / 4 ** level) }))
          const { runs, spans } = computeCover([{ from, to }], staleBlocks(marked), lowest)
          const parts = [...runs.map(rangeOf), ...spans].sort((one, other) => one.from - other.from)
          expect(parts[0]?.from).toBe(from)
          expect(parts.at(-1)?.to).toBe(to)
          for (const [index, part] of parts.slice(1).entries()) expect(part.from).toBe(parts[index]?.to)
          expect(runs.every(({ level }) => level >= lowest)).toBe(true)
          for (const { level, block } of marked)
            for (const run of runs.filter((each) => each.level >= level)) {
              const at = Math.floor(block / 4 ** (run.level - level))
              expect(at < run.first || at > run.last).toBe(true)
            }
        },
      ),
      { seed: 5, numRuns: 300 },
    )
  })
})
