import { expect, test } from '@jest/globals'
import { formatPlace, parseEmbedToken, parsePlace } from './place.js'

const url = (text: string) => new URL(text, 'https://ops.example.com')

test('a place is parsed from and formatted as a URL with its parameters in the fragment', () => {
  const address = '/apps/acme/assets/asset?environment=staging#id=rec_1&tab=two+words'
  const place = parsePlace(url(address))
  expect(place).toEqual({
    ...{ workspace: 'acme', app: 'assets', page: 'asset', environment: 'staging', embedId: undefined },
    params: { id: 'rec_1', tab: 'two words' },
  })
  expect(formatPlace(place)).toBe(address)
})

test('an embed token is read from the fragment, and omitted from every formatted URL', () => {
  const at = url('/apps/acme/assets?embed=emb_1#token=eyJ.a-b_c.d')
  expect(parseEmbedToken(at.hash)).toBe('eyJ.a-b_c.d')
  expect(formatPlace(parsePlace(at))).toBe('/apps/acme/assets?embed=emb_1')
})
