import { describe, expect, it } from '@jest/globals'
import { searchQuery } from './text-search.js'

describe('what is asked for', () => {
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
  ])('%s', (text, words, prefix) => {
    expect(searchQuery(text)).toEqual({ words, prefix })
  })

  it.each(['!!', '""', '-', '-"', '…'])('%s has no words', (text) => {
    expect(searchQuery(text)).toBeNull()
  })
})
