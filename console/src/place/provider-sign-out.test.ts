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

test('the sign-out page of the identity provider is offered once after a sign-out', () => {
  const storage = emptyStorage()
  rememberProviderSignOut(storage, 'https://login.example.com/logout?client_id=opsplane')
  expect(forgetProviderSignOut(storage)).toBe('https://login.example.com/logout?client_id=opsplane')
  expect(forgetProviderSignOut(storage)).toBeUndefined()
})

test('a sign-out without a provider clears the sign-out page of the previous one', () => {
  const storage = emptyStorage()
  rememberProviderSignOut(storage, 'https://login.example.com/logout')
  rememberProviderSignOut(storage, null)
  expect(forgetProviderSignOut(storage)).toBeUndefined()
})

test('a sign-out address that is not an HTTP URL is ignored', () => {
  const storage = emptyStorage()
  rememberProviderSignOut(storage, 'javascript:alert(1)')
  expect(forgetProviderSignOut(storage)).toBeUndefined()
})
