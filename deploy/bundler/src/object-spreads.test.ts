import { runInNewContext } from 'node:vm'
import { describe, expect, test } from '@jest/globals'
import { withSpreads } from './object-spreads.js'

/** Returns an expression after the rewrite. */
const rewritten = (expression: string) => withSpreads(`(${expression})`).slice(1, -1)

describe('object literals with spreads', () => {
  test.each([
    ['{ ...a, b: 1 }', '{...{}, ...a, b: 1 }'],
    ['{ ...a, ...b }', '{...{}, ...a, ...b }'],
    ['{ ...{ a, b: 1 }, c }', '{  a, b: 1, c }'],
    ['{ ...{ ...a, b }, c }', '{...{}, ...{}, ...a, b, c }'],
    ['{ ...a, b: { ...c, d } }', '{...{}, ...a, b: {...{}, ...c, d } }'],
    ['{ a, ...{ b } }', '{ a,  b }'],
    ['{ ...{\n  a,\n  b\n}, c }', '{ \n  a,\n  b\n, c }'],
    ['{ ...{ a, }, c }', '{  a, c }'],
  ])('are rewritten if they begin with a spread or contain a spread literal: %s', (before, after) => {
    expect(rewritten(before)).toBe(after)
  })

  test.each([
    '{ ...a }',
    '{ a, ...b }',
    '{ a: 1 }',
    '[...a, b]',
    'f(...a, b)',
    '({ ...a } = b)',
    '(({ b, ...rest }) => rest)(a)',
    '{ a, ...{ get b() { return 1 } } }',
    '{ a, ...{ b() { return super.b } } }',
    '{ a, ...{ __proto__: b } }',
    '{ a, ...{} }',
  ])('are left unchanged where no rewrite is needed: %s', (expression) => {
    expect(rewritten(expression)).toBe(expression)
  })

  test.each([
    '{ ...a, x: 3 }',
    '{ ...a, ...null, ...undefined, ...{ z: 1, x: 2 }, y: 5 }',
    '{ ...{ x: a.x, ...a }, x: 7 }',
    '{ ...(a.x > 0 && { p: 1 }), q: 2 }',
    '{ ...JSON.parse(\'{ "__proto__": 1 }\'), q: 2 }',
  ])('evaluate to the same entries after the rewrite: %s', (expression) => {
    const entriesOf = (text: string) =>
      JSON.stringify(Object.entries(runInNewContext(`const a = { x: 1, y: 2 }; (${text})`)))
    expect(entriesOf(rewritten(expression))).toBe(entriesOf(expression))
  })
})
