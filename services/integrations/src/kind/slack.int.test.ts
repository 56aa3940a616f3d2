import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { ConnectorResult, ConnectorTest } from '@opsplane/contracts'
import { type Fixture, startFixture } from '../fixture/integrations-fixture.js'

let fixture: Fixture
beforeAll(async () => {
  fixture = await startFixture()
  fixture.settings.secrets.set('bot', 'xoxb-3141592653')
  fixture.settings.secrets.set('hook', `${fixture.receiver.url}/services/T0/B0/s3cr3tpart`)
  fixture.settings.secrets.set('path', '/services/T0/B0/s3cr3tpart')
  fixture.settings.secrets.set('elsewhere', 'https://evil.example.com/services/T0/B0/s3cr3tpart')
})
afterAll(() => fixture?.stop())
beforeEach(() => {
  fixture.arrived()
})

const says = (body: object) =>
  fixture.answers(() => ({
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  }))
const asBot = (more: object = {}) =>
  fixture.connect('slack', {
    auth: { type: 'bot', token: '{{secrets.bot}}', apiUrl: `${fixture.receiver.url}/api` },
    ...more,
  })
const byWebhook = (secret: string) =>
  fixture.connect('slack', {
    auth: { type: 'webhook', url: `{{secrets.${secret}}}`, origin: fixture.receiver.url },
  })
const bodies = () => fixture.arrived().map(({ path, rawBody }) => [path, JSON.parse(rawBody.toString())])

describe('a bot', () => {
  it('posts, updates and deletes messages', async () => {
    const { id } = await asBot({ channel: 'C1' })
    says({ ok: true, channel: 'C1', ts: '1.2' })
    const posted = await fixture.invoke(id, 'post_message', { text: 'Hello', threadTs: '1.1' })
    expect(posted.data(ConnectorResult).output).toEqual({ channel: 'C1', ts: '1.2' })
    await fixture.invoke(id, 'update_message', { channel: 'C1', ts: '1.2', blocks: [{ type: 'divider' }] })
    await fixture.invoke(id, 'delete_message', { channel: 'C1', ts: '1.2' })
    const [first] = fixture.receiver.received().slice(-3)
    expect(first?.headers.authorization).toBe('Bearer xoxb-3141592653')
    expect(bodies()).toEqual([
      ['/api/chat.postMessage', { channel: 'C1', text: 'Hello', thread_ts: '1.1' }],
      ['/api/chat.update', { channel: 'C1', ts: '1.2', blocks: [{ type: 'divider' }] }],
      ['/api/chat.delete', { channel: 'C1', ts: '1.2' }],
    ])
  })

  it('reports an error of Slack, and posts nothing twice', async () => {
    const { id } = await asBot()
    says({ ok: false, error: 'channel_not_found' })
    const refused = await fixture.invoke(id, 'post_message', { channel: 'C9', text: 'Hello' })
    expect(refused.error()).toMatchObject({
      code: 'upstream_error',
      message: expect.stringContaining('channel_not_found'),
      details: [{ params: { attempts: 1 } }],
    })
    fixture.answers(() => ({ status: 503 }))
    await fixture.invoke(id, 'post_message', { channel: 'C9', text: 'Hello' })
    expect(bodies()).toHaveLength(2)
    expect((await fixture.invoke(id, 'post_message', { text: 'Hello' })).error().details[0]?.path).toBe(
      '/input/channel',
    )
    expect((await fixture.invoke(id, 'post_message', { channel: 'C1' })).error().details[0]?.path).toBe(
      '/input/text',
    )
  })

  it('is tested by validating its token', async () => {
    const { id } = await asBot()
    says({ ok: true })
    const test = async () => (await fixture.api.post(`/connectors/${id}/test`)).data(ConnectorTest)
    expect(await test()).toMatchObject({ ok: true, status: 'up', message: 'Slack knows the token.' })
    says({ ok: false, error: 'invalid_auth' })
    expect(await test()).toMatchObject({ ok: false, message: expect.stringContaining('invalid_auth') })
    expect(bodies().map(([path]) => path)).toEqual(['/api/auth.test', '/api/auth.test'])
  })
})

describe('an incoming webhook', () => {
  it.each(['hook', 'path'])('sends messages to the URL of the secret %s', async (secret) => {
    const { id } = await byWebhook(secret)
    fixture.answers(() => ({ status: 200, body: 'ok' }))
    const posted = await fixture.invoke(id, 'post_message', { text: 'Hello', iconEmoji: ':wave:' })
    expect(posted.data(ConnectorResult).output).toEqual({ channel: null, ts: null })
    expect(bodies()).toEqual([['/services/T0/B0/s3cr3tpart', { text: 'Hello', icon_emoji: ':wave:' }]])
  })

  it('sends only to Slack, and only new messages', async () => {
    const away = await byWebhook('elsewhere')
    expect((await fixture.invoke(away.id, 'post_message', { text: 'Hello' })).error().code).toBe('conflict')
    const { id } = await byWebhook('hook')
    const change = { channel: 'C1', ts: '1.2', text: 'Hello' }
    expect((await fixture.invoke(id, 'update_message', change)).error().code).toBe('validation_failed')
    expect(bodies()).toEqual([])
  })

  it('is tested without posting a message', async () => {
    const { id } = await byWebhook('hook')
    const test = async () => (await fixture.api.post(`/connectors/${id}/test`)).data(ConnectorTest).ok
    fixture.answers(() => ({ status: 400, body: 'no_text' }))
    expect(await test()).toBe(true)
    fixture.answers(() => ({ status: 404, body: 'no_service' }))
    expect(await test()).toBe(false)
    expect(bodies()).toEqual(Array(2).fill(['/services/T0/B0/s3cr3tpart', {}]))
  })
})
