import { describe, expect, test } from '@jest/globals'
import { createRedaction } from './redaction.js'

const redactText = (text: string, secrets: string[], cutOff?: boolean) =>
  createRedaction(secrets)(text, cutOff)
const secret = 'pa"ss\\wörd/+-7'

describe('an echoed secret', () => {
  test.each<[string, (value: string) => string]>([
    ['as it is', (value) => value],
    ['in JSON', (value) => JSON.stringify({ header: value })],
    ['in JSON in JSON', (value) => JSON.stringify({ body: JSON.stringify({ header: value }) })],
    ['in a URL', (value) => `https://x.example/?key=${encodeURIComponent(value)}`],
    ['in base64', (value) => Buffer.from(value).toString('base64')],
    ['in base64url', (value) => Buffer.from(value).toString('base64url')],
    ['behind one byte in base64', (value) => Buffer.from(`:${value}`).toString('base64')],
    ['behind a name in base64', (value) => Buffer.from(`ab:u:${value}:z`).toString('base64')],
    ['in hex', (value) => Buffer.from(value).toString('hex')],
    ['in hex of capitals', (value) => Buffer.from(value).toString('hex').toUpperCase()],
  ])('is redacted %s', (_what, echo) => {
    const redacted = redactText(`before ${echo(secret)} after`, ['other', secret])
    expect(redacted).toContain('***')
    expect(redacted).toMatch(/^before .* after$/)
    // The remaining parts must not suffice to read the value.
    for (const value of [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)])
      expect(redacted).not.toContain(value)
    expect(redacted.length).toBeLessThan(`before ${echo(secret)} after`.length)
  })

  test('that contains another secret is redacted completely', () => {
    expect(redactText('abcd-efgh abcd', ['abcd', 'abcd-efgh'])).toBe('*** ***')
  })

  test('that is cut off at the end of the answer is redacted as far as it is present', () => {
    expect(redactText('you sent hunter2-hun', ['hunter2-hunter3'], true)).toBe('you sent ***')
    expect(redactText('you sent hunter2-hun', ['hunter2-hunter3'])).toBe('you sent hunter2-hun')
    expect(redactText('the end', ['hunter2'], true)).toBe('the end')
  })

  // It would take minutes if each prefix of the secret were searched for separately.
  test('that is long, or similar to the end of the answer, is searched for in one pass', () => {
    const long = 'a'.repeat(1_000_000)
    const end = `${'a'.repeat(999_000)}b`
    expect(redactText(end, [long], true)).toBe(end)
    expect(redactText(`${end}aaab${'a'.repeat(500_000)}`, [`${long}c`], true)).toBe(`${end}aaab***`)
    expect(redactText('abab-ababab', ['ababab-x', 'ababac'], true)).toBe('abab-***')
  })

  test('of less than four characters is kept, as is an empty text', () => {
    expect(redactText('a b c', ['b'])).toBe('a b c')
    expect(redactText('', [secret], true)).toBe('')
  })
})
