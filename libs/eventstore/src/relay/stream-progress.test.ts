import { expect, test } from '@jest/globals'
import type { StreamMark } from './stream-marks.js'
import { createStreamProgress } from './stream-progress.js'

const mark = (number: number, sequence: number): StreamMark => ({
  ...{
    number,
    sequence,
    messageId: `evt_${sequence}`,
    identity: 'one',
    generation: 1,
    floor: sequence,
    at: 0,
  },
})

test('drops marks of removed messages with the next record, and does not reuse their numbers', () => {
  const progress = createStreamProgress([mark(1, 5), mark(2, 9)], 'one', 0)
  progress.removed(9)
  expect(progress.marks.map(({ number }) => number)).toEqual([1])
  const { mark: next, superfluous } = progress.mark(9)
  expect(superfluous).toEqual([2])
  expect(next.number).toBe(3)
  expect(progress.mark(9).superfluous).toEqual([])
})

test('the mark that replaces dropped ones stays in place while traffic continues', () => {
  const progress = createStreamProgress([mark(1, 5)], 'one', 0)
  progress.acknowledged(6, 'evt_6')
  const { mark: before } = progress.mark(5)
  progress.acknowledged(7, 'evt_7')
  expect(progress.mark(5).mark.number).toBe(before.number)
  progress.removed(5)
  progress.acknowledged(8, 'evt_8')
  const { mark: replacing } = progress.mark(5)
  progress.acknowledged(9, 'evt_9')
  const { mark: next } = progress.mark(5)
  expect([replacing.sequence, next.sequence]).toEqual([8, 9])
  expect(next.number).toBeGreaterThan(replacing.number)
  expect(progress.marks).toContainEqual(replacing)
})
