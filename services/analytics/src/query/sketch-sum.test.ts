import { describe, expect, it } from '@jest/globals'
import { seededRandom } from '@opsplane/testing'
import { sketchSum } from './sketch-sum.js'

const random = seededRandom(3)
const listOf = (numbers: readonly number[]) => Buffer.from(`{${numbers.join(',')}}`)
const measure = { label: '', description: '', of: 'column' }
const median = { ...measure, kind: 'percentile', share: 0.5 } as const
const distinct = { ...measure, kind: 'distinct' } as const

describe('the sum of a sketch', () => {
  it('returns a percentile within 1 %, regardless of the number of pieces', () => {
    const sum = sketchSum({ kind: 'percentile', column: 'column' })
    const values = Array.from({ length: 2_001 }, () => Math.exp(5 + 8 * random()))
    const buckets = values.map((value) => Math.ceil(Math.log(value) / Math.log(1.02)))
    for (let from = 0; from < buckets.length; from += 87) {
      const piece = buckets.slice(from, from + 87)
      sum.add(listOf(piece), listOf(piece.map(() => 1)))
    }
    for (const share of [0.5, 0.9, 0.99]) {
      const exact = values.toSorted((a, b) => a - b)[Math.ceil(share * values.length) - 1] ?? 0
      expect(Math.abs(Number(sum.valueOf({ ...median, share })) / exact - 1)).toBeLessThan(0.0101)
    }
  })

  it.each([10, 1_000, 100_000])(
    'returns a distinct count of %d within 6 %, and ignores repeated pieces',
    (count) => {
      const sum = sketchSum({ kind: 'distinct', column: 'column' })
      const ranks = new Map<number, number>()
      for (let at = 0; at < count; at++) {
        const bucket = Math.floor(random() * 2_048)
        ranks.set(bucket, Math.max(ranks.get(bucket) ?? 0, 1 + Math.floor(-Math.log2(1 - random()))))
      }
      for (let twice = 0; twice < 2; twice++) sum.add(listOf([...ranks.keys()]), listOf([...ranks.values()]))
      expect(Math.abs(Number(sum.valueOf(distinct)) / count - 1)).toBeLessThan(0.06)
    },
  )

  it('returns null or 0 without values, also after another group', () => {
    const percentiles = sketchSum({ kind: 'percentile', column: 'column' })
    percentiles.add(listOf([7]), listOf([2]))
    percentiles.clear()
    percentiles.add(listOf([]), listOf([]))
    expect(percentiles.valueOf(median)).toBeNull()
    expect(sketchSum({ kind: 'distinct', column: 'column' }).valueOf(distinct)).toBe(0)
  })
})
