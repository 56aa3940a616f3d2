import { expect, test } from '@jest/globals'
import { everyNth } from './sample.js'

test('the fast tier runs every n-th case, and the long tier runs all cases', () => {
  expect(everyNth(3, [0, 1, 2, 3, 4], false)).toEqual([0, 3])
  expect(everyNth(3, [0, 1, 2, 3, 4], true)).toEqual([0, 1, 2, 3, 4])
})
