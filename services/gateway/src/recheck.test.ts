import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { ApiError } from '@opsplane/contracts'
import { ada, asAda, startPlatform, type TestPlatform } from './fixture/platform.js'

let platform: TestPlatform
beforeEach(async () => {
  platform = await startPlatform()
})
afterEach(() => platform.stop())

/** Replaces the verification by settings, and expires cached results. */
function from(verify: TestPlatform['verify']): void {
  platform.verify = verify
  platform.pass(501)
}
const revoked = () => {
  throw new ApiError('invalid_token', 'The token is not valid.')
}
const removed = () => {
  throw new ApiError('workspace_forbidden', 'The token has no access to this workspace.')
}

describe('an answer to a long-poll', () => {
  const path = '/events/topics/orders/events'
  /** Sends a long-poll that the service has received and not answered yet. */
  async function waitingPoll(method = 'GET') {
    const held = new Promise<ServerResponse>((resolve) => {
      platform.dispatcher.handler = (_request, response) => resolve(response)
    })
    const reply = fetch(`${platform.url}/api/v1${path}?timeout=20000`, { method, headers: asAda })
    return { reply, response: await held }
  }
  const published = JSON.stringify({ data: ['published since'] })

  test.each([
    ['a token that was revoked meanwhile', revoked, 401, 'invalid_token'],
    ['a member who was removed meanwhile', removed, 403, 'workspace_forbidden'],
    ['a role that allows less by now', () => ({ ...ada, permissions: [] }), 503, 'service_unavailable'],
  ])('is withheld from %s', async (_who, verify, status, code) => {
    const { reply, response } = await waitingPoll()
    from(verify)
    response.end(published)
    const answer = await reply
    const body = await answer.text()
    expect([answer.status, JSON.parse(body).error.code]).toEqual([status, code])
    expect(body).not.toContain('published')
  })

  test('is withheld from a HEAD request, too', async () => {
    const { reply, response } = await waitingPoll('HEAD')
    from(revoked)
    response.writeHead(200, { 'content-length': '28' }).end()
    expect((await reply).status).toBe(401)
  })

  test.each(['GET', 'HEAD'])('is returned unchanged to a caller who still has access: %s', async (method) => {
    const { reply, response } = await waitingPoll(method)
    from(() => ({ ...ada, permissions: ['itsm:read', 'itsm:write'] }))
    response.writeHead(200, { 'content-length': String(published.length) }).end(published)
    const answer = await reply
    expect([answer.status, answer.headers.get('content-length')]).toEqual([200, String(published.length)])
    expect(await answer.text()).toBe(method === 'GET' ? published : '')
  })
})

test('an export is cut off when its reader loses access', async () => {
  const held = new Promise<ServerResponse>((resolve) => {
    platform.settings.handler = wrapped(platform.settings.handler, resolve)
  })
  const request = httpRequest(`${platform.url}/api/v1/audit/export`, { headers: asAda }).end()
  const response = await held
  response.write('first line\n')
  const [answer] = (await once(request, 'response')) as [IncomingMessage]
  await once(answer, 'readable')
  from(revoked)
  response.write('second line\n')
  const left = once(response, 'close')
  await expect(text(answer)).rejects.toThrow('aborted')
  await left
})

/** Verifies tokens as before, and passes all other responses to `take`. */
const wrapped =
  (verify: TestPlatform['settings']['handler'], take: (response: ServerResponse) => void): typeof verify =>
  (request, response) =>
    request.url?.startsWith('/internal/') ? verify(request, response) : take(response)
