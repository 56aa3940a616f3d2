import { expect, test } from '@jest/globals'
import { type Format, formatValue } from './format.js'

test.each<[unknown, Format, string]>([
  ['1234567890123456.7891', 'number', '1,234,567,890,123,456.7891'],
  ['-0.0000001', 'number', '-0.0000001'],
  ['9007199254740993', 'number', '9,007,199,254,740,993'],
  ['12.50', 'number', '12.50'],
  [0.1 + 0.2, 'number', '0.3'],
  [0.0001, 'number', '0.0001'],
  ['0.123456789', 'percent', '12.3456789%'],
  ['1', 'percent', '100%'],
  ['many', 'number', 'many'],
  ['', 'number', '–'],
  [null, 'percent', '–'],
  ['90', 'duration', '1 min 30 s'],
])('%p in the format %s is shown as %s', (value, format, shown) => {
  expect(formatValue(value, format)).toBe(shown)
})
