import { expect, test } from '@jest/globals'
import { type StreamMark, superfluousMarks } from './stream-marks.js'

const second = 1_000
const week = 7 * 24 * 3_600 * second

test('reduces a week of marks, one per second, to a few hundred: dense for recent times, the oldest kept', () => {
  let marks: StreamMark[] = []
  // Growing steps, so that the week does not take hundreds of thousands of them.
  for (let at = 0, number = 1; at < week; number++, at += number < 2_000 ? second : 60 * second) {
    marks.push({ number, identity: 'x', generation: 0, sequence: number, messageId: 'm', floor: number, at })
    const superfluous = new Set(superfluousMarks(marks, at))
    marks = marks.filter((mark) => !superfluous.has(mark.number))
  }
  expect(marks.length).toBeLessThan(400)
  const newest = marks.at(-1)?.at ?? 0
  expect(marks[0]?.at).toBe(0)
  for (const [index, mark] of marks.entries()) {
    const next = marks[index + 1]
    if (next) expect(next.at - mark.at).toBeLessThanOrEqual((newest - mark.at) / 4 + 60 * second)
  }
})
