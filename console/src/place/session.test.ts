import { expect, test } from '@jest/globals'
import { applyColorScheme } from './color-scheme.js'
import { mayBeSignedIn, parseSignIn, signInAddress } from './session.js'

test.each([
  ['/w/acme/production/events?type=incident.*&tab=raw', true],
  ['/', false],
])('signing in returns to %s', (to, hasEnded) => {
  const { pathname, search } = new URL(signInAddress(to, hasEnded), 'https://ops.example')
  expect(pathname).toBe('/sign-in')
  expect(parseSignIn({ search, hash: '' })).toMatchObject({ to, hasEnded, isBack: false })
})

test('a forged sign-in address does not redirect to another site', () => {
  expect(parseSignIn({ search: '?to=https://evil.example', hash: '' }).to).toBe('/')
  expect(parseSignIn({ search: '?to=//evil.example&ended=1', hash: '' })).toMatchObject({
    to: '/',
    hasEnded: false,
  })
})

test.each([
  ['dark', false, 'dark'],
  ['light', true, 'light'],
  ['auto', true, 'dark'],
  [null, false, 'light'],
])(
  'applies the right color scheme when %s is chosen and the system is dark: %s',
  (chosen, isSystemDark, expected) => {
    const set: string[] = []
    applyColorScheme(
      { setAttribute: (...given) => void set.push(...given) },
      { getItem: () => chosen },
      isSystemDark,
    )
    expect(set).toEqual(['data-mantine-color-scheme', expected])
  },
)

test.each([
  ['nothing', '', false],
  ['a mark on https', 'a=b; __Host-opsplane_signed_in=yes', true],
  ['a mark of an installation on http', 'opsplane_signed_in_kq3x9z=yes; a=b', true],
  ['a mark that was cleared', 'opsplane_signed_in_kq3x9z=', false],
  ['another cookie', 'not_opsplane_signed_in=no', false],
])('decides from the cookies whether a person may be signed in: %s', (_, cookies, may) => {
  expect(mayBeSignedIn(cookies)).toBe(may)
})
