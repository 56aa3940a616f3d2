import { expect, it } from '@jest/globals'
import { newId } from '@opsplane/contracts'
import { seededRandom } from '@opsplane/testing'
import { type Joined, StringInterner, splitWords } from './string-interner.js'

const joined = (words: string[]): Joined => ({ bytes: Buffer.from(words.join(',')), size: words.length })

it('numbers many strings in order of first appearance', () => {
  const random = seededRandom(3)
  const ids = Array.from({ length: 9_000 }, () => newId('ci'))
  const drawn = Array.from({ length: 30_000 }, () => ids[Math.floor(random() * ids.length)] as string)
  const words = new StringInterner()
  expect([...words.numbersOf(joined(ids))]).toEqual(ids.map((_, at) => at))
  const places = new Map(ids.map((id, at) => [id, at]))
  expect([...words.numbersOf(joined(drawn))]).toEqual(drawn.map((id) => places.get(id)))
  expect([words.size, words.numberOf(ids[4_711] ?? ''), words.wordOf(4_711)]).toEqual([
    9_000,
    4_711,
    ids[4_711],
  ])
  expect([words.numberOf('new'), words.numberOf('new'), words.size]).toEqual([9_000, 9_000, 9_001])
})

it('distinguishes strings with a common prefix, and accepts the empty string', () => {
  const given = ['a', 'ab', '', 'abc', 'ab', 'b', '', 'é']
  const words = new StringInterner()
  expect([...words.numbersOf(joined(given))]).toEqual([0, 1, 2, 3, 1, 4, 2, 5])
  expect(Array.from({ length: words.size }, (_, at) => words.wordOf(at))).toEqual([
    'a',
    'ab',
    '',
    'abc',
    'b',
    'é',
  ])
  expect(splitWords(joined(given))).toEqual(given)
})

it('accepts a list of one empty string, and an empty list', () => {
  for (const given of [[''], []]) {
    expect(splitWords(joined(given))).toEqual(given)
    expect([...new StringInterner().numbersOf(joined(given))]).toEqual(given.map((_, at) => at))
  }
})

it.each([2, 4])('rejects three strings if %i are announced', (size) => {
  const wrong = { ...joined(['a', 'b', 'c']), size }
  expect(() => splitWords(wrong)).toThrow()
  expect(() => new StringInterner().numbersOf(wrong)).toThrow()
})
