import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { expect, test } from '@jest/globals'
import jsonata from 'jsonata'
import { knownFunctions } from './known-functions.js'
import { findReferences } from './references.js'

test.each([
  ['steps.fetch.output[0].id', ['steps.fetch']],
  ['steps."fetch".x', ['steps.fetch']],
  ['steps[0].fetch', ['steps']],
  ['$lookup(steps, "x")', ['steps']],
  ['(steps).x', ['steps']],
  ['trigger.data.(title & body)', ['trigger']],
  ['trigger.data[$$.limit > size].title', ['limit', 'trigger']],
  ['$.item.x', ['item']],
  ['items.$.x', ['items']],
  ['items^(>price)[0]', ['items']],
  ['items{category: $sum(price)}', ['items']],
  ['items ~> |$|{"price": cost}|', ['items']],
  ['$map(items, function($i) { $i.x + offset })', ['items', 'offset']],
  ['( $a := steps.x; $a.b )', ['steps.x']],
  ['a ? b : c', ['a', 'b', 'c']],
  ['((((a ?? b) ?? c) ?? d) ?? e)', ['a', 'b', 'c', 'd', 'e']],
  ['{"k": a, "v": [b, -c]}', ['a', 'b', 'c']],
  ['a@$x.b[$x = c]', ['a']],
  ['a#$i[$i < 3]', ['a']],
  ['$keys($)', ['*']],
  ['$$', ['*']],
  ['*.a', ['*']],
  ['**.a', ['*']],
  ['1 + 1', []],
])('%s refers to %p', (source, paths) => {
  expect(findReferences(jsonata(source).ast())).toEqual({ paths, unknown: undefined })
})

test.each([
  ['$upppercase(a)', { name: 'upppercase', position: 11 }],
  ['a.b[$x = 1]', { name: 'x', position: 6 }],
  ['$eval(a)', { name: 'eval', position: 5 }],
])('%s uses an unknown variable or function', (source, unknown) => {
  expect(findReferences(jsonata(source).ast()).unknown).toEqual(unknown)
})

test('the known functions are all functions of JSONata except eval', () => {
  const text = readFileSync(createRequire(import.meta.url).resolve('jsonata'), 'utf8')
  const names = [...text.matchAll(/(?:staticFrame|environment)\.bind\('(\w+)'/g)].map(([, name]) => name)
  expect([...knownFunctions].sort()).toEqual([...new Set(names)].filter((name) => name !== 'eval').sort())
})
