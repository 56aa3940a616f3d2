import { expect, test } from '@jest/globals'
import { createKeyReader } from './keys.js'

function reader() {
  const done: string[] = []
  const does = (name: string) => () => void done.push(name)
  const read = createKeyReader(() => ({
    j: does('next'),
    f: does('filter'),
    'g f': does('failed'),
    'g d': does('deliveries'),
  }))
  return { done, read }
}

test('a key or a sequence of two keys triggers its action', () => {
  const { done, read } = reader()
  expect([read('j', 0), read('g', 10), read('f', 20), read('f', 30), read('x', 40)]).toEqual([
    true,
    false,
    true,
    true,
    false,
  ])
  expect(done).toEqual(['next', 'failed', 'filter'])
})

test('the second key of a sequence must follow within a second and without another key in between', () => {
  const { done, read } = reader()
  read('g', 0)
  read('f', 1_001)
  read('g', 2_000)
  read('j', 2_010)
  read('d', 2_020)
  expect(done).toEqual(['filter', 'next'])
})
