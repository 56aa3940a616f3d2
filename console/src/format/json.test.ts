import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { countIndent, indentedJson, isUnbroken, jsonParts } from './json.js'

test('indenting JSON keeps every digit of a number', () => {
  const text = '{"a":12345678901234567890.10,"b":[1e400,{"c":"x, {y}: \\"z\\""}],"d":{},"e":[]}'
  expect(indentedJson(text)).toBe(`{
  "a": 12345678901234567890.10,
  "b": [
    1e400,
    {
      "c": "x, {y}: \\"z\\""
    }
  ],
  "d": {},
  "e": []
}`)
})

test('indented JSON equals the output of JSON.stringify', () => {
  fc.assert(
    fc.property(fc.oneof(fc.dictionary(fc.string(), fc.jsonValue()), fc.array(fc.jsonValue())), (value) => {
      const text = JSON.stringify(value)
      expect(indentedJson(text)).toBe(JSON.stringify(JSON.parse(text), null, 2))
    }),
  )
})

test.each(['', 'plain', '<!doctype html>', '{"cut', '"text"', '[1,]'])(
  '%j is rejected as neither an object nor an array',
  (text) => {
    expect(indentedJson(text)).toBeUndefined()
  },
)

test('the parts of a JSON text are classified by kind and add up to the same text', () => {
  expect(jsonParts('{"a": [true, "b\\": 1", -1.5e3]}')).toEqual([
    ['plain', '{'],
    ['key', '"a"'],
    ['plain', ': ['],
    ['word', 'true'],
    ['plain', ', '],
    ['string', '"b\\": 1"'],
    ['plain', ', '],
    ['number', '-1.5e3'],
    ['plain', ']}'],
  ])
  fc.assert(
    fc.property(fc.string(), (text) => {
      expect(
        jsonParts(text)
          .map(([, each]) => each)
          .join(''),
      ).toBe(text)
    }),
  )
})

test('ids and times are not wrapped, other texts are', () => {
  expect(
    ['"evt_01KAY3M8Q4"', '"2026-11-29T02:28:09Z"', '"a text"', `"${'x'.repeat(80)}"`].map(isUnbroken),
  ).toEqual([...[true, true, false, false]])
  expect(['{', '  "a": [', ''].map(countIndent)).toEqual([0, 2, 0])
})
