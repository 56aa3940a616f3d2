import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'

import { createBudget } from './budget.js'
import { compilePattern, readPattern } from './pattern.js'

const free = createBudget(Number.POSITIVE_INFINITY, '')

describe('a pattern', () => {
  it.each([
    ['^[A-Z]{2}-\\d{4}$', ['AB-1234'], ['AB-123', 'xAB-1234', 'AB-1234\n', 'AB-١٢٣٤']],
    ['b', ['abc'], ['ac']],
    ['', ['', 'a'], []],
    ['^.$', ['🙂', '\v'], ['\n', '\r', '\u2028', 'ab']],
    ['^\\s$', ['\ufeff', '\u00a0', '\v'], ['\u200b', 'x']],
    ['^[^\\S\\n]$', [' ', '\u2003'], ['\n', 'a']],
    ['^[]', [], ['', 'a']],
    ['^[^]$', ['\n', '🙂'], ['']],
    ['^[\\w-]+$', ['a-b_9'], ['a b', 'ä']],
    ['^[a-c\\-x]+$', ['ac-x'], ['d']],
    ['^[(?:{2}[:alph\\]]+$', ['(?:{2}[alph]'], ['b']],
    ['^\\u0041\\x42\\u{1f642}\\ud83d\\ude42\\cJ\\t$', ['AB🙂🙂\n\t'], ['AB']],
    ['^[\\b\\0]\\/\\.$', ['\b/.', '\0/.'], ['b/.']],
    ['^a{02}(?<year>b){1,2}?$', ['aab', 'aabb'], ['ab', 'aabbb']],
    ['\\bcat\\b', ['a cat.'], ['cats']],
    ['^\\p{Lu}\\p{L}+ \\P{L}\\p{Script=Greek}$', ['Ölz 1α'], ['ölz 1α', 'Ölz 1a']],
    ['^(?:a|b|)$', ['', 'a', 'b'], ['ab', 'c']],
  ])('%s matches the same texts as a JavaScript RegExp', (source, holding, not) => {
    expect(typeof readPattern(source, free)).toBe('object')
    for (const text of [...holding, ...not]) {
      expect([text, compilePattern(source, free).test(text)]).toEqual([text, holding.includes(text)])
      expect([text, new RegExp(source, 'u').test(text)]).toEqual([text, holding.includes(text)])
    }
  })

  it.each([
    ['is none', '(', 'not one of ECMA-262'],
    ['is one of other languages', '(?P<a>b)', 'not one of ECMA-262'],
    ['escapes what needs no escape', '\\-', 'not one of ECMA-262'],
    ['looks ahead', '^(?=.*\\d)', 'looks ahead'],
    ['looks for what must not follow', 'a(?!b)', 'looks ahead'],
    ['looks behind', '(?<=a)b', 'behind'],
    ['looks for what must not precede', '(?<!a)b', 'behind'],
    ['refers back', '(a)\\1', 'refers back'],
    ['refers back by name', '(?<a>b)\\k<a>', 'refers back'],
    ['asks for an emoji', '\\p{Emoji}', 'another property'],
    ['asks for what is not assigned', '\\p{Cn}', 'another property'],
    ['repeats too often', 'a{1001}', 'repeats more than'],
    ['repeats repetitions', '(?:(?:a{20}){20}){20}', 'invalid repeat count'],
    ['repeats repetitions of many', '(?:[a-z]{30}x{30}){70}', 'more than 10000 steps'],
    ['repeats letters of all scripts', '^\\p{L}{201}$', 'more than 10000 steps'],
    ['repeats such a class', '^[^\\p{L}\\S_]{200}$', 'more than 10000 steps'],
    ['is long', 'a'.repeat(501), 'at most 500 characters'],
    ['is a number', 7, 'at most 500 characters'],
  ])('that %s is rejected', (_what, source, reason) => {
    expect(readPattern(source, free)).toContain(reason)
  })

  it('costs at most its size times the length of the text, even where backtracking would never end', () => {
    const pattern = compilePattern('^(?:a+)+$', free)
    expect(pattern.size).toBeLessThan(20)
    expect(pattern.test(`${'a'.repeat(30_000)}b`)).toBe(false)
  })

  it('agrees with the JavaScript RegExp for any expression and text', () => {
    const characters = ['a', 'b', 'A', '1', '-', ' ', '\n', '_', 'ß', '🙂', '\u2028', '.']
    const text = fc.array(fc.constantFrom(...characters), { maxLength: 7 }).map((parts) => parts.join(''))
    const single = fc.constantFrom(
      ...['a', 'b', 'A', '1', 'ß', '🙂', '\\n', '\\u{41}', '\\x31', '\\ud83d\\ude42', '\\.', '_'],
    )
    const set = fc.constantFrom('\\d', '\\D', '\\w', '\\W', '\\s', '\\S', '\\p{L}', '\\P{Lu}')
    const member = fc.oneof(single, set, fc.constantFrom('a-c', '0-9', '\\b', '\\-'))
    const group = fc
      .tuple(fc.constantFrom('', '^'), fc.array(member, { maxLength: 3 }), fc.constantFrom('', '-'))
      .map(([negated, members, dash]) => `[${negated}${members.join('')}${dash}]`)
    const times = fc.constantFrom('', '', '*', '+', '?', '{2}', '{1,3}', '{0}', '{1,}?')
    const edge = fc.constantFrom('^', '$', '\\b', '\\B')
    const { either } = fc.letrec<{ either: string; sequence: string; factor: string }>((tie) => ({
      factor: fc
        .tuple(
          fc.oneof(
            { maxDepth: 3 },
            fc.oneof(single, set, group, fc.constant('.')),
            fc.tuple(fc.constantFrom('(', '(?:'), tie('either')).map(([open, inner]) => `${open}${inner})`),
          ),
          times,
        )
        .map((parts) => parts.join('')),
      sequence: fc
        .array(fc.oneof({ arbitrary: tie('factor'), weight: 2 }, edge), { maxLength: 3 })
        .map((parts) => parts.join('')),
      either: fc.array(tie('sequence'), { minLength: 1, maxLength: 2 }).map((parts) => parts.join('|')),
    }))
    const held = { yes: 0, no: 0 }
    fc.assert(
      fc.property(either, fc.array(text, { minLength: 3, maxLength: 3 }), (source, texts) => {
        const [pattern, expected] = [compilePattern(source, free), new RegExp(source, 'u')]
        for (const one of texts) {
          expect([one, pattern.test(one)]).toEqual([one, expected.test(one)])
          held[expected.test(one) ? 'yes' : 'no']++
        }
      }),
      { numRuns: 1_000, seed: 31 },
    )
    expect(held.yes).toBeGreaterThan(300)
    expect(held.no).toBeGreaterThan(300)
  })
})
