import { expect, test } from '@jest/globals'
import { ownAddress, rememberedPlace, rememberPlace } from './place.js'

test.each([
  [undefined, '/'],
  ['/w/acme/production/events?type=incident.*', '/w/acme/production/events?type=incident.*'],
  ['//evil.example/', '/'],
  ['/\\evil.example', '/'],
  ['/w/\\evil.example', '/'],
  ['https://evil.example/', '/'],
  ['javascript:alert(1)', '/'],
  ['/sign-in?to=/sign-in', '/'],
])('after signing in, the address %j leads to %s', (address, expected) => {
  expect(ownAddress(address)).toBe(expected)
})

test('the last place is restored, unless the stored one is invalid', () => {
  const kept = new Map<string, string>()
  const storage = {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
  }
  expect(rememberedPlace(storage)).toBeUndefined()
  rememberPlace(storage, { workspace: 'acme', environment: 'staging' })
  expect(rememberedPlace(storage)).toEqual({ workspace: 'acme', environment: 'staging' })
  for (const key of kept.keys()) kept.set(key, 'acme/moon')
  expect(rememberedPlace(storage)).toBeUndefined()
})
