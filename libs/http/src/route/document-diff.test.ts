import { expect, it } from '@jest/globals'
import { diffDocuments } from './document-diff.js'

const step = (id: string, value: unknown = 1) => ({ id, type: 'transform', value })

it('lists added, removed and changed values with their paths', () => {
  const before = { steps: [step('a', { x: 1, y: 2 })], output: 'old', timeoutSeconds: 5 }
  const after = {
    steps: [step('a', { x: 1, y: 3 })],
    output: 'new',
    retry: { attempts: 2 },
    timeoutSeconds: 5,
  }
  expect(diffDocuments(before, after)).toEqual([
    { path: '/steps/0/value/y', kind: 'changed', before: 2, after: 3 },
    { path: '/output', kind: 'changed', before: 'old', after: 'new' },
    { path: '/retry', kind: 'added', after: { attempts: 2 } },
  ])
  expect(diffDocuments(before, before)).toEqual([])
})

it('compares steps by their ids, so that an inserted step changes no other', () => {
  const before = [step('a'), step('b'), step('c')]
  expect(diffDocuments(before, [step('new'), step('a'), step('b'), step('c', 2)])).toEqual([
    { path: '/0', kind: 'added', after: step('new') },
    { path: '/3/value', kind: 'changed', before: 1, after: 2 },
  ])
  expect(diffDocuments(before, [step('c'), step('a')])).toEqual([
    { path: '/1', kind: 'removed', before: step('b') },
    { path: '', kind: 'changed', before: ['a', 'c'], after: ['c', 'a'] },
  ])
})
