import { expect, test } from '@jest/globals'
import { Factors, Me, PasskeyChallenge, PasskeyEnrolment } from '@opsplane/contracts'
import { createAuthenticator } from '@opsplane/testing'
import { request } from 'undici'
import { apiClient, type TestCluster } from './platform.js'

/** The origin that users see: browsers bind passkeys to this name, whatever address the tests use. */
export const passkeyOrigin = 'http://localhost:8080'
const password = 'a password of a person'

/** Runs in a browser, through the gateway. The platform's PUBLIC_ORIGIN must be `passkeyOrigin`. */
export function passkeyTests(startedCluster: () => TestCluster) {
  test('a user adds a passkey and signs in with it alone, and a password alone is then refused', async () => {
    const { info } = startedCluster()
    const email = `keys@${info.workspace}.example.com`
    const invited = await apiClient(info)<{ data: { invitation: { token: string } } }>(
      'POST',
      '/settings/users/invite',
      { body: { email, role: 'viewer' } },
    )
    let cookie: string | undefined
    const send = async (method: 'GET' | 'POST', path: string, body?: object) => {
      const answer = await request(`${info.baseUrl}${path}`, {
        method,
        headers: {
          'sec-fetch-site': 'same-origin',
          ...(cookie !== undefined && { cookie }),
          ...(body && { 'content-type': 'application/json' }),
        },
        ...(body && { body: JSON.stringify(body) }),
      })
      const text = await answer.body.text()
      const json = (text === '' ? {} : JSON.parse(text)) as { data?: unknown; error?: { code: string } }
      const [set = ''] = [answer.headers['set-cookie']].flat()
      return {
        status: answer.statusCode,
        data: json.data,
        code: json.error?.code,
        cookie: set.split(';', 1)[0] ?? '',
      }
    }
    const { token } = invited.body.data.invitation
    const accepted = await send('POST', '/auth/session', { token, name: 'Key Holder', password })
    expect(accepted.status).toBe(201)

    cookie = accepted.cookie
    const enrolment = PasskeyEnrolment.parse((await send('POST', '/auth/factors/passkeys/options', {})).data)
    expect(enrolment.publicKey.rp.id).toBe('localhost')
    const key = createAuthenticator({ origin: passkeyOrigin })
    const credential = key.create(enrolment.publicKey)
    const added = await send('POST', '/auth/factors/passkeys', {
      ...{ challenge: enrolment.challenge, name: 'Laptop', credential },
    })
    expect(added.status).toBe(201)
    expect(Factors.parse((await send('GET', '/auth/factors')).data)).toMatchObject({
      factors: [{ kind: 'passkey', name: 'Laptop' }],
      passkeys: { available: true, reason: null },
    })
    expect((await send('POST', '/auth/logout', {})).status).toBe(204)
    cookie = undefined

    const begin = async () => PasskeyChallenge.parse((await send('POST', '/auth/passkey/options', {})).data)
    const { challenge, publicKey } = await begin()
    const assertion = key.get(publicKey)
    const alone = await send('POST', '/auth/session', { challenge, assertion })
    expect(alone.status).toBe(201)
    const replayed = await send('POST', '/auth/session', { challenge, assertion })
    expect([replayed.code, replayed.cookie]).toEqual(['invalid_token', ''])

    for (const path of ['/auth/session', '/auth/token']) {
      const downgraded = await send('POST', path, { email, password })
      expect([path, downgraded.status, downgraded.code, downgraded.cookie]).toEqual([
        path,
        401,
        'factor_required',
        '',
      ])
      const phished = await begin()
      const elsewhere = key.get(phished.publicKey, { origin: 'http://localhost.evil.example' })
      const rejection = await send('POST', path, { challenge: phished.challenge, assertion: elsewhere })
      expect([path, rejection.code, rejection.cookie]).toEqual([path, 'invalid_credentials', ''])
    }
    cookie = alone.cookie
    expect(Me.parse((await send('GET', '/auth/me')).data).user.email).toBe(email)
  })
}
