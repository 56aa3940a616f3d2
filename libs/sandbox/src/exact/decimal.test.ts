import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { addDecimals, compareDecimals, decimalText, parseDecimal, toNumberOrText } from './decimal.js'

const read = (text: string) => {
  const decimal = parseDecimal(text)
  if (!decimal) throw new Error(`${text} is no decimal`)
  return decimal
}

test.each([
  ['12.50', '12.50', 12.5],
  ['1234567890123456.7891', '1234567890123456.7891', '1234567890123456.7891'],
  ['9007199254740993', '9007199254740993', '9007199254740993'],
  ['9007199254740992', '9007199254740992', '9007199254740992'],
  ['9007199254740991', '9007199254740991', 9007199254740991],
  ['1e21', '1000000000000000000000', '1000000000000000000000'],
  ['0.0000001', '0.0000001', 0.0000001],
  ['-1e-7', '-0.0000001', -1e-7],
  ['-0.5', '-0.5', -0.5],
])('parses %s as the decimal %s and the JavaScript value %p', (text, exact, number) => {
  expect(decimalText(read(text))).toBe(exact)
  expect(toNumberOrText(read(text))).toBe(number)
})

test.each(['', '-', '1.', '.5', '1,5', '0x1', 'NaN', '1e9999'])('%j is not a decimal', (text) => {
  expect(parseDecimal(text)).toBeUndefined()
})

const cents = fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n })

test('compares and adds decimals like integers scaled to the smallest decimal place', () => {
  fc.assert(
    fc.property(cents, cents, fc.nat(12), (left, right, scale) => {
      const [a, b] = [left, right].map((digits) => read(decimalText({ digits, scale })))
      if (!a || !b) throw new Error('no decimals')
      expect(compareDecimals(a, b)).toBe(left < right ? -1 : Number(left > right))
      expect(decimalText(addDecimals(a, b))).toBe(decimalText({ digits: left + right, scale }))
    }),
  )
})
