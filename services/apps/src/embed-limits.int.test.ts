import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { App, AppActionAnswer, EmbedTokenCreated, newId } from '@opsplane/contracts'
import { SignJWT } from 'jose'
import type { AppsFixture, RunningApp } from './fixture/apps-fixture.js'
import {
  listCalledOperations as calledOf,
  findSentFilter as filterSentOf,
  id,
  resetPlatform,
  sources,
  startDeclared,
} from './fixture/declared-app.js'

/** The holder of an embed token can do only what both the token and the deployment allow. */

let fixture: AppsFixture
let app: App

beforeAll(async () => {
  const started = await startDeclared()
  fixture = started
  app = started.app
})
afterAll(() => fixture?.stop())
beforeEach(() => resetPlatform(fixture))

const called = () => calledOf(fixture)
const filterSent = (index = 0) => filterSentOf(fixture, index)
const resultOf = async (reply: ReturnType<RunningApp['act']>) => (await reply).data(AppActionAnswer).value
const errorOf = async (reply: ReturnType<RunningApp['act']>) => (await reply).error()

describe('an embed', () => {
  const rowFilter = { customer: 'c-17', site: { in: ['Berlin', 'Ulm'] } }
  const enter = async (body: object = {}, headers?: Record<string, string>) =>
    fixture.embed(app.slug, (await fixture.embedToken(app.id, body)).token, headers)

  it('shows the app to the user named in the token, under the grant of the deployment', async () => {
    const user = { id: 'customer-17', name: 'Kim', email: '' }
    const guest = await enter({ user })
    expect(JSON.parse((await guest.definition()).text).data).toMatchObject({ user, app: { slug: app.slug } })
    await guest.data('assets')
    expect(filterSent()).toEqual({ owner: 'customer-17' })
    const standing = fixture.platform.granted.findIndex(({ expiresInSeconds }) => expiresInSeconds === null)
    expect(fixture.platform.calls[0]?.grant).toBe(`grant-${standing + 1}`)
  })

  it('has the row filter in every read and change, whatever the request contains', async () => {
    const guest = await enter({ rowFilter, user: { id: 'k', name: 'Kim' } })
    await guest.data('assets', { site: 'Hamburg' })
    expect(filterSent()).toEqual({ ...rowFilter, owner: 'k', or: [{ site: 'Hamburg' }] })
    for (const operation of ['get', 'update', 'delete']) {
      fixture.platform.calls.length = 0
      await guest.act({ source: 'assets', operation, id, values: {} })
      expect(filterSent()).toEqual({ ...rowFilter, id, owner: 'k' })
    }
  })

  it('creates no record outside of the row filter, and moves none out of it', async () => {
    const guest = await enter({ rowFilter })
    const create = (values: object) => guest.act({ source: 'assets', operation: 'create', values })
    const update = (values: object) => guest.act({ source: 'assets', operation: 'update', id, values })
    await resultOf(create({ site: 'Ulm' }))
    expect(fixture.platform.calls[0]?.body).toMatchObject({ customer: 'c-17', site: 'Ulm' })
    for (const outside of [create({ site: 'Rome' }), create({}), update({ site: 'Rome' })])
      expect(await errorOf(outside)).toMatchObject({
        ...{ code: 'validation_failed', details: [{ path: '/values/site', code: 'outside_row_filter' }] },
      })
    await resultOf(update({ site: 'Berlin' }))
    expect(fixture.platform.calls.at(-1)?.operationId).toBe('runRecordBatch')
  })

  it('reaches sources that the row filter cannot bind only where its token exempts them', async () => {
    const guest = await enter({ rowFilter })
    expect(await guest.data('sums', { town: 'Berlin' })).toMatchObject({ error: { code: 'forbidden' } })
    expect((await errorOf(guest.act({ source: 'notify', params: { text: 'x' } }))).code).toBe('forbidden')
    expect(called()).toEqual([])
    const exempt = await enter({ rowFilter, exempt: ['sums', 'readOnly'] })
    expect(await exempt.data('sums', { town: 'Berlin' })).toMatchObject({ value: { total: 5 } })
    await exempt.data('readOnly')
    expect(filterSent(1)).toEqual({})
  })

  it('ends with its token (revoked or expired), and when the app is archived or no longer embeddable', async () => {
    const other = await fixture.build(sources)
    await fixture.deploy(other.id, { embeddable: true })
    const { id: tokenId, token } = await fixture.embedToken(other.id)
    const guest = fixture.embed(other.slug, token)
    expect((await guest.definition()).status).toBe(200)
    await fixture.deploy(other.id)
    expect((await guest.definition()).error().code).toBe('forbidden')
    await fixture.deploy(other.id, { embeddable: true })
    await fixture.service.sql`update embed_tokens set state =
      jsonb_set(state::jsonb, '{expiresAt}', '"2020-01-01T00:00:00.000Z"')::json where id = ${tokenId}`
    expect((await guest.definition()).error().code).toBe('token_expired')
    const next = await fixture.embedToken(other.id)
    await fixture.api.send('DELETE', `/apps/${other.id}/embed-tokens/${next.id}`)
    expect((await fixture.embed(other.slug, next.token).definition()).error().code).toBe('invalid_token')
    const last = await fixture.embedToken(other.id)
    await fixture.api.send('DELETE', `/apps/${other.id}`)
    expect((await fixture.embed(other.slug, last.token).definition()).status).toBe(404)
  })

  it('is valid for one app, one workspace and one environment', async () => {
    const other = await fixture.build(sources)
    await fixture.deploy(other.id, { embeddable: true })
    const { token } = await fixture.embedToken(app.id)
    expect((await fixture.embed(other.slug, token).definition()).status).toBe(404)
    const elsewhere = await fixture.service.as().get(`/origin/apps/other/${app.slug}/-/definition`, {
      headers: { 'x-internal-guest-token': token },
    })
    expect(elsewhere.status).toBe(404)
    // The environment of the token applies, whatever environment the request names.
    const staging = fixture.embed(app.slug, token, { 'x-environment': 'staging' })
    expect(JSON.parse((await staging.definition()).text).data.app.environment).toBe('production')
  })

  it.each(['cross-site', 'same-site', 'none'])(
    'rejects a request from a page of another site: %s',
    async (site) => {
      const guest = await enter({}, { 'sec-fetch-site': site })
      expect((await guest.definition()).error().code).toBe('forbidden')
      expect(
        (await enter({}, { 'sec-fetch-site': 'same-origin' }).then((own) => own.definition())).status,
      ).toBe(200)
    },
  )

  it('allows framing only at the address of its own app, workspace and environment', async () => {
    const other = { ...fixture.principal, workspaceId: newId('workspace'), workspaceSlug: 'other' }
    const staging = { ...fixture.principal, environment: 'staging' as const }
    const second = await fixture.build([])
    const third = (
      await fixture.service.as(other).post('/apps', { slug: app.slug, name: 'Of another workspace' })
    ).data(App)
    await fixture.service.as(other).post(`/apps/${third.id}/pages`, { slug: 'home', title: 'Home' })
    const places = [
      { who: fixture.principal, app },
      { who: fixture.principal, app: second },
      { who: staging, app: second },
      { who: other, app: third },
    ]
    const tokens = []
    for (const { who, app: of } of places) {
      const client = fixture.service.as(who)
      await client.post(`/apps/${of.id}/deploy`, { embeddable: true })
      const made = await client.post(`/apps/${of.id}/embed-token`, {
        origins: ['https://portal.example.com'],
      })
      tokens.push({ who, of, id: made.data(EmbedTokenCreated).id })
    }
    const addresses = places.flatMap(({ who: { workspaceSlug }, app: { slug } }) =>
      ['', '&environment=production', '&environment=staging'].map((environment) => ({
        ...{ workspaceSlug, slug, environment },
      })),
    )
    for (const { who, of, id: tokenId } of tokens)
      for (const { workspaceSlug, slug, environment } of addresses) {
        const address = `/origin/apps/${workspaceSlug}/${slug}?embed=${tokenId}${environment}`
        const answer = await fetch(`${fixture.service.url}${address}`, {
          headers: await fixture.service.headers(),
        })
        const isOwn =
          workspaceSlug === who.workspaceSlug &&
          slug === of.slug &&
          ['', `&environment=${who.environment}`].includes(environment)
        expect([answer.status, answer.headers.get('content-security-policy')]).toEqual([
          200,
          expect.stringContaining(`frame-ancestors ${isOwn ? 'https://portal.example.com;' : "'none';"}`),
        ])
      }
  })

  it('rejects altered, forged and foreign tokens', async () => {
    const { token, id: jti } = await fixture.embedToken(app.id)
    const [head = '', body = '', signature = ''] = token.split('.')
    const bent = (part: string, change: object) =>
      Buffer.from(
        JSON.stringify({ ...JSON.parse(Buffer.from(part, 'base64url').toString()), ...change }),
      ).toString('base64url')
    const forged = (claims: object, secret: string, header: object = {}) =>
      new SignJWT({ jti, workspace: 'acme', app: app.id, environment: 'production', ...claims })
        .setProtectedHeader({ alg: 'HS256', typ: 'embed+jwt', ...header })
        .setIssuer('opsplane-apps')
        .setAudience('opsplane-app')
        .setExpirationTime('1h')
        .sign(Buffer.from(secret.padEnd(32, '.')))
    const { kid } = JSON.parse(Buffer.from(head, 'base64url').toString())
    const bearer = (await fixture.service.headers(fixture.principal)).authorization ?? ''
    const tokens = [
      `${head}.${bent(body, { environment: 'staging' })}.${signature}`,
      `${head}.${bent(body, { rows: null, exp: 9_999_999_999 })}.${signature}`,
      `${bent(head, { alg: 'none' })}.${body}.`,
      `${head}.${body}.${signature.slice(0, -4)}AAAA`,
      await forged({}, 'secret', { kid }),
      await forged({}, 'secret', { kid: 'other' }),
      await forged({}, fixture.service.env.SERVICE_PRIVATE_KEY ?? '', { kid }),
      // A service token is not an embed token.
      bearer.replace('Bearer ', ''),
      'x',
    ]
    for (const each of tokens)
      expect((await fixture.embed(app.slug, each).definition()).error().code).toBe('invalid_token')
  })

  it('rejects every request without a token', async () => {
    const anonymous = fixture.service.as()
    const path = `/origin/apps/acme/${app.slug}/-`
    expect((await anonymous.get(`${path}/definition`)).error().code).toBe('unauthenticated')
    expect((await anonymous.get(`${path}/definition`, { headers: { cookie: 'token=x' } })).status).toBe(401)
    const body = { requests: [{ key: 'a', source: 'assets' }] }
    expect((await anonymous.post(`${path}/data`, body)).error().code).toBe('unauthenticated')
  })
})
