import { expect, test } from '@jest/globals'
import { creditPayload, decodeCredit, encodeFrame, type Frame, frameReader } from './frames.js'

test('frames are decoded correctly, however the bytes are split', () => {
  const sent: Frame[] = [
    { kind: 'open', feed: 1, payload: Buffer.from('{"url":"/"}') },
    { kind: 'data', feed: 4_000_000_000, payload: Buffer.from([0, 255, 13, 10]) },
    { kind: 'end', feed: 2, payload: Buffer.alloc(0) },
    { kind: 'data', feed: 1, payload: Buffer.from('ü'.repeat(40)) },
  ]
  const bytes = Buffer.concat(sent.map(({ kind, feed, payload }) => encodeFrame(kind, feed, payload)))
  for (let length = 1; length <= bytes.length; length++) {
    const found: Frame[] = []
    const read = frameReader(100, (each) => found.push(each))
    for (let at = 0; at < bytes.length; at += length) read(bytes.subarray(at, at + length))
    expect(found).toEqual(sent)
  }
})

test('malformed and oversized frames are rejected before they are buffered', () => {
  const read = () => frameReader(10, () => {})
  expect(() => read()(encodeFrame('data', 1, 'x'.repeat(11)).subarray(0, 9))).toThrow(RangeError)
  expect(() => read()(Buffer.from('GET / HTTP/1.1\r\n\r\n'))).toThrow(RangeError)
})

test('a credit frame contains the number of bytes that the receiver can accept', () => {
  const found: Frame[] = []
  frameReader(10, (each) => found.push(each))(encodeFrame('credit', 7, creditPayload(70_000)))
  expect(found.map((each) => [each.feed, decodeCredit(each)])).toEqual([[7, 70_000]])
})
