import { describe, expect, test } from '@jest/globals'
import { parseByteRange } from './byte-range.js'

describe('the Range header for a file of 100 bytes', () => {
  test.each([
    ['bytes=0-9', { from: 0, to: 9 }],
    ['bytes=90-', { from: 90, to: 99 }],
    ['bytes=90-500', { from: 90, to: 99 }],
    ['bytes=-10', { from: 90, to: 99 }],
    ['bytes=-500', { from: 0, to: 99 }],
    ['bytes=0-1,5-6', undefined],
    ['lines=1-2', undefined],
    ['bytes=-', undefined],
    ['bytes=1-x', undefined],
    [undefined, undefined],
  ])('%s is parsed, or ignored if it is malformed or unsupported', (header, range) =>
    expect(parseByteRange(header, 100)).toEqual(range),
  )

  test.each(['bytes=100-', 'bytes=5-4', 'bytes=-0'])('%s is not satisfiable', (header) =>
    expect(() => parseByteRange(header, 100)).toThrow(
      expect.objectContaining({
        ...{ status: 416, code: 'range_not_satisfiable', message: 'The file has 100 bytes.' },
        headers: { 'Content-Range': 'bytes */100' },
      }),
    ),
  )
})
