import { describe, expect, test } from '@jest/globals'
import { OpsplaneError } from '@opsplane/client'
import { consumeKeptToken, keepToken, tokenFrom } from './fragment.js'
import {
  enrolmentAddress,
  isSignInPage,
  parseSignIn,
  remedyAddress,
  signInAddress,
  ssoReturn,
} from './session.js'

const to = '/w/acme/production/events?type=incident.*'

const refusal = (status: number, code: string, detail?: string) =>
  new OpsplaneError(
    status,
    {
      error: {
        ...{ code, message: 'No.', retryable: false },
        details:
          detail === undefined ? [] : [{ in: 'header', path: '/X-Workspace', code: detail, message: 'No.' }],
      },
      meta: { requestId: 'req_1' },
    },
    new Response(null, { status }),
  )

test.each([
  ['without a session', refusal(401, 'unauthenticated'), signInAddress(to, true)],
  ['after a session', refusal(401, 'token_expired'), signInAddress(to, true)],
  ['without a second factor', refusal(403, 'factor_enrolment_required'), enrolmentAddress(to)],
  ['without its provider', refusal(403, 'workspace_forbidden', 'sso_required'), signInAddress(to, false)],
  ['with a wrong password', refusal(401, 'invalid_credentials'), undefined],
  ['as no member', refusal(403, 'workspace_forbidden'), undefined],
  ['without an answer', new TypeError('Failed to fetch'), undefined],
])(
  'a person without access %s is redirected to the page that restores it, if there is one',
  (_, error, address) => {
    expect(remedyAddress(error, to, true)).toBe(address)
  },
)

describe('an identity provider redirects the browser', () => {
  const back = (hash: string) => ({ search: new URL(ssoReturn(to), 'https://ops.example').search, hash })

  test('to the originally requested address, and the page knows its workspace', () => {
    expect(parseSignIn(back(''))).toMatchObject({
      to,
      isBack: true,
      ssoRefusal: undefined,
      workspace: 'acme',
    })
  })

  test('with the reason of a refusal', () => {
    const { ssoRefusal } = parseSignIn(back('#error=no_role&message=No+role+is+given.'))
    expect(ssoRefusal).toBe('No role is given.')
  })

  test('to the start page if the address exceeds the maximum length', () => {
    expect(ssoReturn(`${to}${'x'.repeat(500)}`)).toBe('/sign-in?back=true')
  })
})

// The paths in mails and links, as `settings` creates them; /account/address requires a session.
test.each(['/sign-in', '/sign-in/factor', '/invitation', '/reset'])(
  '%s is accessible without a session',
  (page) => {
    expect(isSignInPage(page)).toBe(true)
  },
)

test('signing in returns to the page that adds a factor, but never to the sign-in page', () => {
  const enrolment = enrolmentAddress(to)
  expect(parseSignIn({ search: signInAddress(enrolment, false).replace('/sign-in', ''), hash: '' }).to).toBe(
    enrolment,
  )
  expect(parseSignIn({ search: '?to=%2Fsign-in%3Fto%3D%252F', hash: '' }).to).toBe('/')
})

test('a token is removed from the address, and is kept once across a sign-in', () => {
  const shown: unknown[] = []
  const history = { replaceState: (...given: unknown[]) => void shown.push(given[2]) }
  const address = { pathname: '/account/address', search: '?a=b', hash: '#token=ops_act_1' }
  expect(tokenFrom(address, history)).toBe('ops_act_1')
  const kept = new Map<string, string>()
  const storage = {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
    removeItem: (key: string) => void kept.delete(key),
  }
  keepToken(storage, address, history)
  // The page after the sign-in has no token, which must not delete the stored one.
  keepToken(storage, { ...address, hash: '' }, history)
  expect([consumeKeptToken(storage), consumeKeptToken(storage)]).toEqual(['ops_act_1', undefined])
  expect(shown).toEqual(['/account/address?a=b', '/account/address?a=b'])
})
