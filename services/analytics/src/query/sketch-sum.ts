import type { Measure } from '../dataset/dataset.js'
import { growth, registers, type Sketch } from './measures.js'

/** The sketch of one group, merged piece by piece. */
export interface SketchSum {
  /** Buckets and their weights as Postgres array literals: `{3,7}` and `{1,2}`. */
  add(buckets: Uint8Array, weights: Uint8Array): void
  /** The value of a measure computed from the sketch; `null` if nothing was added. */
  valueOf(measure: Measure): number | null
  clear(): void
}

/** One more than the bucket of the longest possible duration. */
const percentileBuckets = Math.ceil(Math.log(2 ** 63) / Math.log(growth)) + 1
const alpha = 0.7213 / (1 + 1.079 / registers)

/** Weights of percentiles are added; for distinct counts the maximum is kept. */
export function sketchSum({ kind }: Sketch): SketchSum {
  const sums = new Float64Array(kind === 'percentile' ? percentileBuckets : registers)
  const [buckets, weights]: [number[], number[]] = [[], []]
  const join = kind === 'percentile' ? (a: number, b: number) => a + b : Math.max
  return {
    add(bucketText, weightText) {
      const count = readNumbers(bucketText, buckets)
      readNumbers(weightText, weights)
      for (let at = 0; at < count; at++) {
        const bucket = buckets[at] ?? 0
        sums[bucket] = join(sums[bucket] ?? 0, weights[at] ?? 0)
      }
    },
    valueOf: (measure) => (measure.kind === 'percentile' ? percentile(sums, measure.share) : distinct(sums)),
    clear: () => void sums.fill(0),
  }
}

/** The middle of the first bucket whose end is at or above the given share of all values. */
function percentile(weights: Float64Array, share: number): number | null {
  const targetWeight = Math.ceil(weights.reduce((sum, weight) => sum + weight, 0) * share)
  if (targetWeight === 0) return null
  let upTo = 0
  const bucket = weights.findIndex((weight) => {
    upTo += weight
    return upTo >= targetWeight
  })
  return (2 * growth ** bucket) / (growth + 1)
}

/** HyperLogLog, with linear counting while few registers are used. */
function distinct(ranks: Float64Array): number {
  let [free, sum] = [0, 0]
  for (const rank of ranks) {
    if (rank === 0) free++
    sum += 2 ** -rank
  }
  const raw = (alpha * registers * registers) / sum
  return Math.round(raw <= 2.5 * registers && free > 0 ? registers * Math.log(registers / free) : raw)
}

const [comma, zero] = [0x2c, 0x30]

/** Reads non-negative integers of an array literal. Returns their number. */
function readNumbers(text: Uint8Array, into: number[]): number {
  let [count, number] = [0, 0]
  // Between the braces.
  for (let at = 1; at < text.length; at++) {
    const byte = text[at] ?? 0
    if (byte !== comma && at < text.length - 1) number = 10 * number + byte - zero
    else {
      into[count++] = number
      number = 0
    }
  }
  return text.length > 2 ? count : 0
}
