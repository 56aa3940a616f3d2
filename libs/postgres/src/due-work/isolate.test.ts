import { describe, expect, it } from '@jest/globals'
import { type ErrorClass, isolateFailures } from './isolate.js'

const rows = Array.from({ length: 64 }, (_, index) => index)
class Strange extends Error {}
const meaningOf = (error: unknown): ErrorClass =>
  error instanceof RangeError ? 'away' : error instanceof Strange ? 'passing' : 'fault'

/** Attempts that fail if they include an unfit row, and their sizes. */
function attempts(isFit: (row: number) => boolean, error = new Error('unfit')) {
  const sizes: number[] = []
  const attempt = async (part: readonly number[]) => {
    sizes.push(part.length)
    if (!part.every(isFit)) throw error
    return part.map((row) => row * 2)
  }
  return { sizes, attempt }
}

describe('isolate', () => {
  it('makes one attempt when nothing fails', async () => {
    const { sizes, attempt } = attempts(() => true)
    const { done } = await isolateFailures(rows, attempt, meaningOf)
    expect(done.map(({ result }) => result)).toEqual(rows.map((row) => row * 2))
    expect(sizes).toEqual([64])
  })

  it('finds the failing row in two attempts for each halving', async () => {
    const { sizes, attempt } = attempts((row) => row !== 41)
    const { done, failed } = await isolateFailures(rows, attempt, meaningOf)
    expect(failed).toEqual([{ row: 41, error: expect.any(Error) }])
    expect(done).toHaveLength(63)
    expect(sizes).toHaveLength(13)
  })

  it('finds every failing row among others', async () => {
    const { attempt } = attempts((row) => ![3, 30, 31, 60].includes(row))
    const { done, failed } = await isolateFailures(rows, attempt, meaningOf)
    expect(failed.map(({ row }) => row)).toEqual([3, 30, 31, 60])
    expect(done).toHaveLength(60)
  })

  it('leaves the remaining rows untried when nothing succeeds', async () => {
    const { sizes, attempt } = attempts(() => false)
    const { failed, untried } = await isolateFailures(rows, attempt, meaningOf)
    expect([failed.length, untried.length, sizes.length]).toEqual([2, 62, 8])
  })

  it('blames no row for temporary errors, and throws when the database is unavailable', async () => {
    const passing = await isolateFailures(rows, attempts(() => false, new Strange()).attempt, meaningOf)
    expect([passing.failed.length, passing.untried.length]).toEqual([0, 64])
    await expect(
      isolateFailures(rows, attempts(() => false, new RangeError()).attempt, meaningOf),
    ).rejects.toThrow(RangeError)
  })

  it('makes no attempt for no rows', async () => {
    const { sizes, attempt } = attempts(() => true)
    expect(await isolateFailures([], attempt, meaningOf)).toEqual({ done: [], failed: [], untried: [] })
    expect(sizes).toEqual([])
  })
})
