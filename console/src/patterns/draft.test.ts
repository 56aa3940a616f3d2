import { expect, test } from '@jest/globals'
import { readDraft } from './draft.js'

const initial = { email: '', role: 'viewer', days: 7 }
const storageWith = (text: string | null) => ({
  getItem: () => text,
  setItem: () => undefined,
  removeItem: () => undefined,
})

test.each([
  ['what was typed is there again', '{"email":"ada@example.com"}', { ...initial, email: 'ada@example.com' }],
  ['a field of a former version is left out', '{"phone":"1","role":"agent"}', { ...initial, role: 'agent' }],
  ['a value of another kind is none', '{"days":"7","email":null}', initial],
  ['what is no JSON is no draft', '{', initial],
  ['neither is null', 'null', initial],
  ['nothing was typed', null, initial],
])('a form draft: %s', (_, kept, expected) => {
  expect(readDraft(storageWith(kept), 'key', initial)).toEqual(expected)
})
