import type { ErrorDetail } from '@opsplane/contracts'
import { validationFailed } from '../route/validation.js'

/** Maximum nesting levels of arrays and objects. */
export const maxDepth = 100
const maxKeys = 2_000
const maxItems = 10_000
/** Enough for a thousand rows of 250 columns. */
const maxValues = 250_000

/** A text of fewer bytes can only exceed the limit of depth, which JSON.parse accepts and `checkJson` checks. */
export const boundedBytes = 2 * maxKeys

const quote = 0x22
const comma = 0x2c
const backslash = 0x5c
const openList = 0x5b
const closeList = 0x5d
const openObject = 0x7b
const closeObject = 0x7d

/**
 * Throws `validation_failed` for JSON with more than 100 nesting levels, 2,000 keys in an object, 10,000 items in an
 * array, or 250,000 values in total. Scans the bytes once, which need not be valid JSON.
 */
export function checkBounds(bytes: Buffer): void {
  /** Number of commas and kind of each open container. */
  const commas: number[] = []
  const isList: boolean[] = []
  let values = 1
  for (let at = 0; at < bytes.length; at++) {
    switch (bytes[at]) {
      case quote:
        at = endOfText(bytes, at)
        break
      case openObject:
      case openList:
        if (commas.length === maxDepth) throw outOfBounds('too_deep', 'levels', maxDepth)
        isList.push(bytes[at] === openList)
        commas.push(0)
        values++
        break
      case closeObject:
      case closeList:
        commas.pop()
        isList.pop()
        break
      case comma: {
        const depth = commas.length - 1
        const count = (commas[depth] ?? 0) + 1
        commas[depth] = count
        if (isList[depth]) {
          if (count >= maxItems) throw outOfBounds('too_many_items', 'items in a list', maxItems)
        } else if (count >= maxKeys) throw outOfBounds('too_many_keys', 'keys in an object', maxKeys)
        if (++values > maxValues) throw outOfBounds('too_many_values', 'values in all', maxValues)
      }
    }
  }
}

/** Position of the closing quote of the string that begins at `start`; beyond the last byte if there is none. */
function endOfText(bytes: Buffer, start: number): number {
  for (let at = bytes.indexOf(quote, start + 1); at !== -1; at = bytes.indexOf(quote, at + 1)) {
    let before = at - 1
    while (bytes[before] === backslash) before--
    if ((at - before) % 2 === 1) return at
  }
  return bytes.length
}

function outOfBounds(code: string, unit: string, max: number) {
  const problem: ErrorDetail = {
    in: 'body',
    path: '',
    code,
    message: `must have at most ${max} ${unit}`,
    params: { max },
  }
  return validationFailed([problem])
}
