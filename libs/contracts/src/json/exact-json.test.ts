import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { canonicalJson } from './canonical-json.js'
import {
  compareNumbers,
  ExactNumber,
  exactNumbersAsText,
  parseExact,
  plainDecimal,
  stringifyExact,
} from './exact-json.js'

const digits = (max: number) =>
  fc.array(fc.nat(9), { minLength: 1, maxLength: max }).map((found) => found.join(''))

/** Numbers in every valid spelling: long, short, with unnecessary zeros and exponents. */
const numberTexts = fc
  .record({
    sign: fc.constantFrom('', '-'),
    whole: fc.oneof(
      fc.constant('0'),
      digits(30).map((text) => text.replace(/^0+(?=.)/, '')),
    ),
    fraction: fc.option(digits(30)),
    exponent: fc.option(
      fc.tuple(
        fc.constantFrom('e', 'E', 'e+', 'e-', 'E-'),
        fc.oneof(fc.nat(30), fc.nat(500), fc.constant('007')),
      ),
    ),
  })
  .map(
    ({ sign, whole, fraction, exponent }) =>
      sign + whole + (fraction === null ? '' : `.${fraction}`) + (exponent?.join('') ?? ''),
  )

const stringTexts = fc.oneof(
  fc.string({ unit: 'binary' }),
  numberTexts,
  numberTexts.map((text) => `[ ${text},"${text}"]`),
  fc.constant('__proto__'),
)
const blanks = fc.constantFrom('', ' ', '\n\t', '\r')

/** JSON texts with whitespace, duplicate keys and arbitrary strings. */
const { json: jsonTexts } = fc.letrec<{ json: string }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    numberTexts,
    fc.constantFrom('true', 'false', 'null', '[]', '{}'),
    stringTexts.map((text) => JSON.stringify(text)),
    fc
      .tuple(fc.array(tie('json'), { maxLength: 4 }), blanks)
      .map(([items, blank]) => `[${blank}${items.join(`${blank},${blank}`)}${blank}]`),
    fc
      .tuple(
        fc.array(fc.tuple(fc.oneof(fc.constantFrom('a', 'b', '__proto__'), stringTexts), tie('json')), {
          maxLength: 4,
        }),
        blanks,
      )
      .map(
        ([fields, blank]) =>
          `{${fields.map(([name, value]) => `${blank}${JSON.stringify(name)}${blank}:${blank}${value}`).join(',')}${blank}}`,
      ),
  ),
}))

const rounded = (value: unknown): unknown => {
  if (value instanceof ExactNumber) return Number(value.text)
  if (value === null || typeof value !== 'object') return value
  if (Array.isArray(value)) return value.map(rounded)
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, rounded(inner)]))
}

/** Compares the numbers with bigint arithmetic. */
const isSameNumber = (left: string, right: string): boolean => differenceOf(left, right) === 0n

const isLess = (left: string, right: string): boolean => differenceOf(left, right) < 0n

function differenceOf(left: string, right: string): bigint {
  const parts = [left, right].map((text) => {
    const [, sign = '', whole = '', fraction = '', exponent = '0'] =
      /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? []
    return {
      whole: BigInt(`${whole}${fraction}`) * (sign ? -1n : 1n),
      exponent: Number(exponent) - fraction.length,
    }
  })
  const least = Math.min(...parts.map(({ exponent }) => exponent))
  const [a = 0n, b = 0n] = parts.map(({ whole, exponent }) => whole * 10n ** BigInt(exponent - least))
  return a - b
}

const ofText = (parse: (text: string) => unknown, text: string) => {
  try {
    return { value: parse(text) }
  } catch (error) {
    return { failed: (error as Error).name }
  }
}

describe('JSON with exact numbers', () => {
  it('accepts the same texts as JSON.parse, with equal values except for the digits of numbers', () => {
    fc.assert(
      fc.property(
        jsonTexts,
        fc.option(fc.tuple(fc.nat(), fc.constantFrom('', '"', ',', 'x', '\u0001', '1', '\\u00'))),
        (text, damage) => {
          const at = damage ? damage[0] % (text.length + 1) : 0
          const sent = damage ? text.slice(0, at) + damage[1] + text.slice(at + 1) : text
          const exact = ofText(parseExact, sent)
          expect('value' in exact ? { value: rounded(exact.value) } : exact).toEqual(ofText(JSON.parse, sent))
        },
      ),
      { numRuns: 2_000 },
    )
  })

  it('parses a number to a double if that preserves its value, and otherwise to its text', () => {
    fc.assert(
      fc.property(
        numberTexts,
        fc.constantFrom('$', '[$]', '[1,$ ]', '{"a": $}', '{"a":"b","c":\n$\n}'),
        (text, frame) => {
          const read = parseExact(frame.replace('$', text))
          const [value] =
            typeof read === 'object' && !(read instanceof ExactNumber) && read
              ? Object.values(read).slice(-1)
              : [read]
          const shortest = String(Number(text))
          const kept = Number.isFinite(Number(text)) && isSameNumber(shortest, text)
          expect(value).toEqual(kept ? Number(text) : new ExactNumber(text))
        },
      ),
      { numRuns: 2_000 },
    )
  })

  it('writes each number with its original text, so that the output parses to the same values', () => {
    fc.assert(
      fc.property(jsonTexts, (text) => {
        const value = parseExact(text)
        const written = stringifyExact(value)
        expect(stringifyExact(parseExact(written))).toBe(written)
        expect(JSON.stringify(JSON.parse(written))).toBe(JSON.stringify(JSON.parse(text)))
      }),
      { numRuns: 1_000 },
    )
  })

  it.each([
    ['{"a":9007199254740993,"a":{"b":2}}', '{"a":{"b":2}}'],
    ['[{"__proto__":{"x":9007199254740993}}]', '[{"__proto__":{"x":9007199254740993}}]'],
    ['{"d":"2026-11-28T07:48:35.000Z","n":[0.1,1e21,1234567890123456.7891]}', undefined],
    [
      '[0.30000000000000004,5e-324,1.7976931348623157e308]',
      '[0.30000000000000004,5e-324,1.7976931348623157e+308]',
    ],
  ])('writes %s', (text, wanted) => {
    expect(stringifyExact(parseExact(text))).toBe(wanted ?? text.replace('1e21', '1e+21'))
  })

  it('writes dates and values with toJSON, and omits the same values as JSON.stringify', () => {
    const value = {
      at: new Date(0),
      none: undefined,
      list: [undefined, Number.NaN],
      lone: '\ud800',
      wrapped: { toJSON: () => [1] },
    }
    const text = JSON.stringify(value)
    expect(stringifyExact({ ...value, n: new ExactNumber('1e999') })).toBe(`${text.slice(0, -1)},"n":1e999}`)
    expect(stringifyExact(undefined)).toBeUndefined()
  })

  it('parses and writes deeply nested values', () => {
    const deep = `${'['.repeat(1_990)}9007199254740993${']'.repeat(1_990)}`
    expect(stringifyExact(parseExact(deep))).toBe(deep)
  })

  it('writes an exact number as a string in JSON.stringify', () => {
    expect(JSON.stringify({ n: parseExact('9007199254740993') })).toBe('{"n":"9007199254740993"}')
  })
})

describe('an exact number', () => {
  it.each(['', '01', '1.', '.5', '+1', '1e', 'NaN', ' 1', '1 ', '0x10'])('rejects the text %j', (text) => {
    expect(() => new ExactNumber(text)).toThrow(TypeError)
    expect(plainDecimal(text)).toBeUndefined()
  })

  it('has one plain decimal form with the same value', () => {
    fc.assert(
      fc.property(numberTexts, fc.nat(20), (text, zeros) => {
        const plain = plainDecimal(text) ?? ''
        expect(isSameNumber(plain, text)).toBe(true)
        const [, sign = '', rest = '', exponent = '0'] = /^(-?)([\d.]+)(?:[eE](.+))?$/.exec(text) ?? []
        const padded = rest.includes('.') ? rest + '0'.repeat(zeros) : rest
        expect(plainDecimal(`${sign}${padded}e${Number(exponent)}`)).toBe(plain)
        expect(plain.length).toBeLessThan(1_100)
      }),
      { numRuns: 1_000 },
    )
  })

  it.each([
    ['1e21', '1000000000000000000000'],
    ['1E-7', '0.0000001'],
    ['-12.50', '-12.5'],
    ['0.0e99999999', '0'],
    ['-0', '0'],
    ['12e131071', '12e131071'],
  ])('converts %s to the plain decimal %s', (text, wanted) => expect(plainDecimal(text)).toBe(wanted))

  it('has one canonical text, which differs from that of any string', () => {
    const [a, b] = ['9007199254740993.50', '90071992547409935e-1'].map((text) => ({
      n: new ExactNumber(text),
    }))
    expect(canonicalJson(a)).toBe('{"n":9007199254740993.5}')
    expect(canonicalJson(b)).toBe(canonicalJson(a))
    expect(canonicalJson({ n: '9007199254740993.5' })).not.toBe(canonicalJson(a))
  })

  it('is ordered by all its digits', () => {
    fc.assert(
      fc.property(numberTexts, numberTexts, fc.boolean(), (left, right, isNear) => {
        const other = isNear ? `${left.replace(/[eE].*/, '')}${left.includes('.') ? '1' : '.0001'}` : right
        const [a, b] = [left.replace(/[eE].*/, ''), other].map(
          (text) => parseExact(text) as number | ExactNumber,
        )
        const [whole, others] = [left.replace(/[eE].*/, ''), other]
        const expected = isSameNumber(whole, others) ? 0 : isLess(whole, others) ? -1 : 1
        expect(Math.sign(compareNumbers(a ?? 0, b ?? 0))).toBe(expected)
        expect(Math.sign(compareNumbers(b ?? 0, a ?? 0))).toBe(expected === 0 ? 0 : -expected)
      }),
      { numRuns: 1_000 },
    )
  })

  it('becomes a string in exactNumbersAsText, which leaves other values unchanged', () => {
    const plain = { a: [1, 'x', { b: null }] }
    expect(exactNumbersAsText(plain)).toBe(plain)
    const rest = { keep: plain }
    const [named] = [exactNumbersAsText({ n: [new ExactNumber('1e999'), 2], rest }) as { rest: unknown }]
    expect(named).toEqual({ n: ['1e999', 2], rest })
    expect(named.rest).toBe(rest)
  })
})
