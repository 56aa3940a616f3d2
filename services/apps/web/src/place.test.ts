import { expect, test } from '@jest/globals'
import { formatPlace, parseEmbedToken, parsePlace } from './place.js'

const url = (text: string) => new URL(text, 'https://ops.example.com')

test('a place is in the address, its parameters in the part that no server sees', () => {
  const address = '/apps/acme/assets/asset?environment=staging#id=rec_1&tab=two+words'
  const place = parsePlace(url(address))
  expect(place).toEqual({
    ...{ workspace: 'acme', app: 'assets', page: 'asset', environment: 'staging', embedId: undefined },
    params: { id: 'rec_1', tab: 'two words' },
  })
  expect(formatPlace(place)).toBe(address)
})

test('an embed token is read once, and is in no address that is made', () => {
  const at = url('/apps/acme/assets?embed=emb_1#token=eyJ.a-b_c.d')
  expect(parseEmbedToken(at.hash)).toBe('eyJ.a-b_c.d')
  expect(formatPlace(parsePlace(at))).toBe('/apps/acme/assets?embed=emb_1')
})
