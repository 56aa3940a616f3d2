import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { Connector, ConnectorKind, referencedSecrets } from '@opsplane/contracts'
import { z } from 'zod'
import { type Fixture, startFixture } from '../fixture/integrations-fixture.js'

let fixture: Fixture
beforeAll(async () => {
  fixture = await startFixture()
})
afterAll(() => fixture?.stop())

const secret = (name: string) => `{{secrets.${name}}}`
const base = 'http://127.0.0.1:9999'
const more = { headers: { 'X-Key': secret('in_header') }, query: { api_key: secret('in_query') } }
const everywhere = { in_header: '127.0.0.1', in_query: '127.0.0.1' }
const auths: [object, Record<string, string>][] = [
  [
    { type: 'basic', username: secret('user'), password: secret('password') },
    { user: '127.0.0.1', password: '127.0.0.1' },
  ],
  [{ type: 'bearer', token: secret('token') }, { token: '127.0.0.1' }],
  [{ type: 'header', name: 'X-A', value: secret('value') }, { value: '127.0.0.1' }],
  [
    {
      type: 'oauth2',
      tokenUrl: 'http://localhost:9998/token',
      clientId: 'c',
      clientSecret: secret('client'),
    },
    { client: 'localhost' },
  ],
]
const document = { openapi: '3.1.0', info: { title: 't', version: '1' }, paths: {}, servers: [{ url: base }] }

/** Every place of every kind that may contain a secret, and the host the secret is sent to. */
const configs: [kind: string, config: object, goesTo: Record<string, string>][] = [
  ...auths.flatMap(([auth, goesTo]): [string, object, Record<string, string>][] => [
    ['http', { baseUrl: base, auth, ...more }, { ...goesTo, ...everywhere }],
    ['openapi', { document: { url: `${base}/openapi.json` }, auth, ...more }, { ...goesTo, ...everywhere }],
    ['openapi', { document, auth, ...more }, { ...goesTo, ...everywhere }],
  ]),
  ['slack', { auth: { type: 'webhook', url: secret('hook') } }, { hook: 'hooks.slack.com' }],
  ['slack', { auth: { type: 'bot', token: secret('bot') } }, { bot: 'slack.com' }],
  [
    'smtp',
    { host: 'Mail.Example.com', user: 'u', password: secret('mail'), from: 'a@example.com' },
    { mail: 'mail.example.com' },
  ],
  [
    'postgres',
    { host: 'DB.example.com', database: 'd', user: 'u', password: secret('db') },
    { db: 'db.example.com' },
  ],
]

describe('a configuration', () => {
  it.each(configs)(
    'of kind %s adds the target host to each of its secrets: %j',
    async (kind, config, goesTo) => {
      fixture.settings.admitted.length = 0
      await fixture.connect(kind, config)
      const admitted = fixture.settings.admitted.map(({ name, hosts }) => [name, hosts])
      expect(new Map(admitted as [string, string[]][])).toEqual(
        new Map(Object.entries(goesTo).map(([name, host]) => [name, [host]])),
      )
      expect(Object.keys(goesTo).sort()).toEqual(
        [...new Set(referencedSecrets(JSON.stringify(config)))].sort(),
      )
    },
  )

  it('is tested above for every kind with credentials', async () => {
    const kinds = (await fixture.api.get('/connectors/kinds')).data(z.array(ConnectorKind))
    const withSecrets = kinds.filter(({ config }) => JSON.stringify(config).includes('stored secret'))
    expect(withSecrets.map(({ name }) => name).sort()).toEqual(
      [...new Set(configs.map(([kind]) => kind))].sort(),
    )
  })

  it('is rejected with the secrets it cannot use, also when it is updated or enabled again', async () => {
    const { settings, api } = fixture
    const config = { baseUrl: base, auth: { type: 'bearer', token: secret('withdrawn') } }
    const { id } = await fixture.connect('http', config, { enabled: false })
    settings.unnameable.set('withdrawn', 'unknown_secret')
    const refused = { path: '/config/auth/token', code: 'unknown_secret' }
    const details = async (reply: Promise<{ status: number; error(): { details: object[] } }>) => {
      const answer = await reply
      expect(answer.status).toBe(422)
      return answer.error().details
    }
    expect(await details(api.post('/connectors', { name: 'new', kind: 'http', config }))).toMatchObject([
      refused,
    ])
    expect(await details(api.patch(`/connectors/${id}`, { config }))).toMatchObject([refused])
    expect(await details(api.patch(`/connectors/${id}`, { enabled: true }))).toMatchObject([refused])
    expect((await api.patch(`/connectors/${id}`, { name: 'renamed' })).data(Connector).name).toBe('renamed')
  })
})
