import { describe, expect, it } from '@jest/globals'
import { endsInSpacelessCharacter, searchQuery } from './text-search.js'

describe('a search query', () => {
  it.each([
    ['checkout', '"checkout"', true],
    ['slow  checkout', '"slow" "checkout"', true],
    ['checkout-db', '"checkout db"', true],
    ['"slow checkout"', '"slow checkout"', false],
    ['"slow checkout', '"slow checkout"', false],
    ['slow -"on mobile" -cart', '"slow" -"on mobile" -"cart"', false],
    ['INC-42', '"INC 42"', false],
    ['cart or basket', '"cart" or "basket"', true],
    ['or cart OR or', '"cart"', true],
    [`it's (50%) & :* \\ !x`, '"it s" "50" "x"', true],
    ['Größe', '"Größe"', true],
    ['打印机', '"打印 印机"', true],
    ['Windows打印机 机', '"Windows" "打印 印机" "机"', true],
    ['-"打印机" 프린터', '-"打印 印机" "프린 린터"', true],
    ['พิมพ์', '"พิ ิม มพ พ์"', true],
  ])('%s', (text, words, prefix) => {
    expect(searchQuery(text)).toEqual({ words, prefix })
  })

  it.each(['!!', '""', '-', '-"', '…'])('%s has no words', (text) => {
    expect(searchQuery(text)).toBeNull()
  })
})

it.each([
  ['机', true],
  ['WLAN 机', true],
  ['打印机', false],
  ['机 WLAN', false],
  ['a', false],
])('whether %s ends in a single character of a script without spaces: %s', (text, ends) => {
  expect(endsInSpacelessCharacter(searchQuery(text)?.words ?? '')).toBe(ends)
})
