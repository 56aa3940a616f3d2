import { expect, test } from '@jest/globals'
import { forgetProviderSignOut, rememberProviderSignOut } from './provider-sign-out.js'

function emptyStorage() {
  const values = new Map<string, string>()
  return {
    getItem: (key: string) => values.get(key) ?? null,
    setItem: (key: string, value: string) => void values.set(key, value),
    removeItem: (key: string) => void values.delete(key),
  }
}

test('the page after a sign-out leads to that of the identity provider, once', () => {
  const storage = emptyStorage()
  rememberProviderSignOut(storage, 'https://login.example.com/logout?client_id=opsplane')
  expect(forgetProviderSignOut(storage)).toBe('https://login.example.com/logout?client_id=opsplane')
  expect(forgetProviderSignOut(storage)).toBeUndefined()
})

test('a sign-out without a provider leads nowhere, and forgets the one before', () => {
  const storage = emptyStorage()
  rememberProviderSignOut(storage, 'https://login.example.com/logout')
  rememberProviderSignOut(storage, null)
  expect(forgetProviderSignOut(storage)).toBeUndefined()
})

test('what is no page is not linked', () => {
  const storage = emptyStorage()
  rememberProviderSignOut(storage, 'javascript:alert(1)')
  expect(forgetProviderSignOut(storage)).toBeUndefined()
})
