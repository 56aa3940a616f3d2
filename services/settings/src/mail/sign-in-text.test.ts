import { expect, test } from '@jest/globals'
import { detectProgram, signInText } from './sign-in-text.js'

test.each([
  ['Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0', 'Firefox on Linux'],
  [
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36 Edg/142.0',
    'Edge on Windows',
  ],
  [
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Safari/605.1.15',
    'Safari on macOS',
  ],
  ['curl/8.5.0', 'curl'],
  ['', 'an unknown program'],
  ['Your account is locked, see https://evil.example\nBcc: all@example.com', 'an unknown program'],
])('the user agent %s is shown as %s', (userAgent, name) => {
  expect(detectProgram(userAgent)).toBe(name)
})

test('the mail contains no text supplied by the client', () => {
  const userAgent = 'Firefox/1 https://evil.example'
  const { text } = signInText(
    { what: 'sign_in', at: '2026-03-01T10:00:00.000Z', address: '192.0.2.1', userAgent },
    undefined,
  )
  expect(text).not.toContain('evil')
  expect(text).toContain('DELETE /api/v1/auth/sessions')
})
