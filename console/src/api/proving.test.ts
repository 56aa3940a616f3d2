import { afterEach, describe, expect, test } from '@jest/globals'
import { type Lacking, proveBy, sendWithProof } from './proving.js'

let stop = () => {}
afterEach(() => stop())

const refusal = (status: number, code: string) =>
  new Response(
    JSON.stringify({
      error: { code, message: 'No.', details: [], retryable: false },
      meta: { requestId: 'req_1' },
    }),
    { status },
  )

/** A platform that refuses requests until the person has proved their identity, and records the requests. */
function platform(status: number, code: string, isProved: () => boolean) {
  const sent: string[] = []
  const send = async (request: Request) => {
    sent.push(`${request.method} ${new URL(request.url).pathname} ${await request.text()}`)
    return isProved() ? new Response('{}') : refusal(status, code)
  }
  return { sent, send }
}

const post = (path = '/api/v1/settings/roles') =>
  new Request(`https://ops.example${path}`, { method: 'POST', body: '{"name":"auditor"}' })

/** A person who gives the proof if `proves` is true. */
function person(proves: boolean) {
  const asked: Lacking[] = []
  let isProved = false
  stop = proveBy(async (lacking) => {
    asked.push(lacking)
    isProved = proves
    return proves
  })
  return { asked, isProved: () => isProved }
}

describe('a request without a required proof of identity', () => {
  test.each([
    [403, 'step_up_required', 'step_up'],
    [401, 'unauthenticated', 'session'],
    [401, 'invalid_token', 'session'],
    [401, 'token_expired', 'session'],
  ] as const)(
    'prompts for the proof after a %d (%s), and is resent unchanged',
    async (status, code, lacking) => {
      const { asked, isProved } = person(true)
      const { sent, send } = platform(status, code, isProved)
      expect((await sendWithProof(post(), send)).status).toBe(200)
      expect(asked).toEqual([lacking])
      const once = 'POST /api/v1/settings/roles {"name":"auditor"}'
      expect(sent).toEqual([once, once])
    },
  )

  test('shares one prompt with concurrent requests that lack the same proof', async () => {
    const { asked, isProved } = person(true)
    const { sent, send } = platform(401, 'token_expired', isProved)
    const answers = await Promise.all([1, 2, 3].map(() => sendWithProof(post(), send)))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
    expect([asked.length, sent.length]).toEqual([1, 6])
  })

  test('fails when the person cancels the prompt, and a later request prompts again', async () => {
    const { asked, isProved } = person(false)
    const { send } = platform(403, 'step_up_required', isProved)
    expect((await sendWithProof(post(), send)).status).toBe(403)
    expect((await sendWithProof(post(), send)).status).toBe(403)
    expect(asked).toEqual(['step_up', 'step_up'])
  })

  test('fails without a retry when no prompt is registered', async () => {
    const { sent, send } = platform(401, 'unauthenticated', () => false)
    expect((await sendWithProof(post(), send)).status).toBe(401)
    expect(sent).toHaveLength(1)
  })
})

test.each([
  [401, 'invalid_credentials', '/api/v1/auth/password/change'],
  [401, 'invalid_token', '/api/v1/auth/factors/passkeys'],
  [401, 'invalid_token', '/api/v1/auth/address/prove/confirm'],
  [403, 'insufficient_scope', '/api/v1/settings/roles'],
  [403, 'factor_enrolment_required', '/api/v1/settings/roles'],
  [409, 'conflict', '/api/v1/settings/roles'],
])('a %d (%s) of %s does not prompt for a proof', async (status, code, path) => {
  const { asked, isProved } = person(true)
  const { send } = platform(status, code, isProved)
  expect((await sendWithProof(post(path), send)).status).toBe(status)
  expect(asked).toEqual([])
})
