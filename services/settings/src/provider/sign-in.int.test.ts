import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import {
  Identity,
  IdentityProvider,
  Me,
  SessionDetail,
  SsoChoices,
  User,
  VerifiedToken,
} from '@opsplane/contracts'
import type { OidcPerson } from '@opsplane/testing'
import { z } from 'zod'
import { publicOrigin, type Sso, type SsoWorkspace, startSso } from './sso.fixture.js'

let sso: Sso
let acme: SsoWorkspace
beforeAll(async () => {
  sso = await startSso()
  acme = await sso.workspace('acme', {
    roleClaim: 'groups',
    roles: [
      { value: 'admins', role: 'admin' },
      { value: 'builders', role: 'developer' },
    ],
  })
})
afterAll(() => sso?.stop())

const person = (sub: string, claims: Record<string, unknown> = {}): OidcPerson => ({
  sub,
  claims: { email: `${sub}@acme.example`, email_verified: true, name: `Person ${sub}`, ...claims },
})
const inAcme = { workspace: 'acme' }
const principalOf = async (token: string | null) =>
  (await sso.settings.verify(token ?? '', inAcme)).data(VerifiedToken).principal
const users = async () => (await acme.api.get('/settings/users?limit=100')).page(User).items
const memberCalled = async (email: string) => (await users()).find((user) => user.email === email)
const eventsOf = (type: string) =>
  sso.settings.service.sql<
    { data: { after: Record<string, unknown> }; source: unknown; actor: { id: string } }[]
  >`
    select data, source, actor from events where type = ${type} order by position`

describe('a sign-in through the provider of a workspace', () => {
  it('creates a user with the role from the claims, and a session limited to that workspace', async () => {
    const grace = person('grace', { groups: ['staff', 'builders', 'admins'] })
    const back = await sso.signIn(acme.provider.id, grace)
    expect(back).toMatchObject({ status: 303, error: null })
    expect(back.location?.href).toBe(`${publicOrigin}/incidents`)
    expect(back.headers.get('cache-control')).toBe('no-store')
    const principal = await principalOf(back.session)
    expect(principal).toMatchObject({
      ...{ role: 'admin', onlyWorkspaceId: acme.owner.workspaceId, email: 'grace@acme.example' },
    })
    expect(await memberCalled('grace@acme.example')).toMatchObject({
      ...{ id: principal.userId, role: 'admin', status: 'active', name: 'Person grace' },
    })
    await sso.settings.owner('elsewhere')
    const elsewhere = await sso.settings.verify(back.session ?? '', { workspace: 'elsewhere' })
    expect(elsewhere.error().code).toBe('workspace_forbidden')

    const api = await sso.settings.as(back.session ?? '')
    expect((await api.get('/auth/sessions')).page(SessionDetail).items).toMatchObject([
      { methods: ['sso'], current: true },
    ])
    expect(
      (await api.get('/auth/identities')).data(z.object({ identities: z.array(Identity) })),
    ).toMatchObject({
      identities: [{ subject: 'grace', issuer: sso.issuer.issuer, providerId: acme.provider.id }],
    })
    const [linked] = (await eventsOf('identity.linked')).slice(-1)
    expect(linked).toMatchObject({
      ...{ source: { address: '203.0.113.7', userAgent: 'a browser' }, actor: { id: principal.userId } },
    })
    const started = await eventsOf('session.started')
    expect(started.filter(({ actor }) => actor.id === principal.userId)).toMatchObject([
      {
        ...{ data: { after: { userId: principal.userId, methods: ['sso'] } } },
        source: { address: '203.0.113.7', userAgent: 'a browser' },
      },
    ])
  })

  it('recognises the person by issuer and subject, whatever the address, and updates the role', async () => {
    const first = await principalOf(
      (await sso.signIn(acme.provider.id, person('hedy', { groups: ['builders'] }))).session,
    )
    expect(first.role).toBe('developer')
    const moved = person('hedy', { groups: [], email: 'moved@acme.example', email_verified: false })
    const second = await principalOf((await sso.signIn(acme.provider.id, moved)).session)
    expect(second).toMatchObject({ userId: first.userId, role: 'viewer' })
    const changed = await eventsOf('user.role_changed')
    expect(changed.at(-1)).toMatchObject({ data: { after: { id: first.userId, role: 'viewer' } } })
  })

  it('assigns no address to the login, so that it cannot claim the address of another person', async () => {
    const back = await sso.signIn(acme.provider.id, person('ida'))
    const api = await sso.settings.as(back.session ?? '')
    const { user } = (await api.get('/auth/me')).data(Me)
    expect(user).toMatchObject({ email: `${user.id}@${acme.provider.id}.invalid`, addressProvenAt: null })
    const reset = await sso.settings.internal.post('/auth/password/reset', { email: user.email })
    expect(reset.status).toBe(422)
    const login = await sso.settings.login(user.email, 'some password or other')
    expect(login.status).toBe(422)
    const invited = await acme.api.post('/settings/users/invite', { email: user.email, role: 'viewer' })
    expect(invited.status).toBe(422)
  })
})

describe('a page before signing in', () => {
  it('lists the enabled providers of a workspace, and none of an unknown workspace', async () => {
    const off = await sso.connect(acme.api, { name: 'Off', enabled: false })
    const shown = async (slug: string) =>
      (await sso.settings.internal.get(`/auth/sso?workspace=${slug}`)).data(SsoChoices).providers
    expect(await shown('acme')).toEqual([{ id: acme.provider.id, name: 'Acme SSO' }])
    expect(await shown('nowhere')).toEqual([])
    const start = (providerId: string) => sso.settings.internal.post('/auth/sso/start', { providerId })
    expect((await start(off.id)).error().code).toBe('not_found')
    expect((await start('idp_01JZ8Q4D3N5W7X9Y2B4C6D8E0F')).error()).toEqual((await start(off.id)).error())
  })

  it.each([
    '//evil.example',
    '/\\evil.example',
    'https://evil.example',
    '/a\tb',
    'evil',
    '',
    '/\n//evil.example',
  ])('cannot redirect to %j after the sign-in', async (returnTo) => {
    const started = await sso.settings.internal.post('/auth/sso/start', {
      providerId: acme.provider.id,
      returnTo,
    })
    expect(started.error().code).toBe('validation_failed')
  })
})

describe('a provider', () => {
  it('never exposes its secret, in responses, in events or in the table', async () => {
    const { clientSecret } = sso.issuer
    const shown = await acme.api.get('/settings/identity-providers?limit=100')
    expect(shown.page(IdentityProvider).items.length).toBeGreaterThan(0)
    const rows = await sso.settings.service.sql`select state::text as text from identity_providers`
    const events = await sso.settings.service.sql`select data::text as text from events`
    for (const text of [shown.text, JSON.stringify(rows), JSON.stringify(events)])
      expect(text).not.toContain(clientSecret)
    expect(shown.text).not.toContain('sealedSecret')
    expect(JSON.stringify(events)).not.toContain('sealedSecret')
  })

  it('is the same after a rebuild from the events, and so are identities', async () => {
    const rows = async () => [
      await sso.settings.service.sql`select * from identity_providers order by id`,
      await sso.settings.service.sql`select * from identities order by id`,
    ]
    const before = await rows()
    await sso.settings.service.rebuild()
    expect(await rows()).toEqual(before)
  })
})
