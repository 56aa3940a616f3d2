import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { InvitedUser, Session, TokenCreated, User, VerifiedToken } from '@opsplane/contracts'
import { type ApiClient, type EventRecorder, recordEvents, waitFor } from '@opsplane/testing'
import { type Owner, password, type Settings, startSettings } from '../settings.fixture.js'
import { createUserClient } from './users.fixture.js'

const email = 'grace@example.com'
const inAcme = { workspace: 'acme' }

let settings: Settings
let recorder: EventRecorder
let ada: Owner
let api: ApiClient
let users: ReturnType<typeof createUserClient>

beforeAll(async () => {
  settings = await startSettings()
  recorder = await recordEvents(settings.service.natsPrefix)
  ada = await settings.owner('acme')
  api = await settings.as(ada.session, inAcme)
  users = createUserClient(settings, ada, api)
})
afterAll(async () => {
  await recorder?.stop()
  await settings?.stop()
})

const codeOf = async (token: string) => (await settings.verify(token, inAcme)).error().code

it('refuses to remove an outdated version of a user, before a successor takes over any resource', async () => {
  const { userId } = await users.joined('edith@example.com')
  const remove = (version: number) =>
    api.send('DELETE', `/settings/users/${userId}?successor=${ada.userId}`, {
      headers: { 'if-match': `"${version}"` },
    })
  expect((await remove(1)).error().code).toBe('precondition_failed')
  expect((await api.get(`/settings/users/${userId}`)).text).toContain('"status":"active"')
  expect((await remove(2)).status).toBe(200)
})

it('a user can be invited, suspended, reactivated, removed and invited again', async () => {
  const invited = (await users.invite(' Grace@Example.com ', 'developer')).data(InvitedUser)
  expect(invited).toMatchObject({
    ...{ email, name: email, role: 'developer', status: 'invited', version: 1 },
    allowedActions: ['invite', 'accept', 'change_role', 'remove'],
    invitation: {
      token: expect.stringMatching(/^ops_inv_[0-9A-Z]{26}_[0-9A-Za-z]{38}$/),
      link: null,
      mailed: false,
      acceptPath: '/api/v1/auth/invitations/accept',
      expiresAt: '2026-03-08T10:00:00.000Z',
    },
    invitationExpiresAt: '2026-03-08T10:00:00.000Z',
  })
  expect((await settings.login(email, password)).error().code).toBe('invalid_credentials')

  const token = invited.invitation.token ?? ''
  const accepted = await users.accept({ token, name: 'Grace', password })
  expect(accepted.status).toBe(201)
  const session = accepted.data(Session)
  expect(session).toMatchObject({
    user: { id: invited.id, email, name: 'Grace' },
    workspaces: [{ slug: 'acme', role: 'developer' }],
  })
  expect((await users.accept({ token, password })).error().code).toBe('invalid_token')

  const { accessToken } = (await settings.login(email, password)).data(Session)
  const grace = await settings.as(accessToken, inAcme)
  const key = (await grace.post('/auth/tokens', { name: 'CI', scopes: ['itsm:read'] })).data(TokenCreated)
  const tokens = [session.accessToken, accessToken, key.token ?? '']

  const suspended = (await users.patch(invited.id, { status: 'suspended' })).data(User)
  expect(suspended).toMatchObject({ status: 'suspended', name: 'Grace', invitationExpiresAt: null })
  for (const each of tokens) expect(await codeOf(each)).toBe('workspace_forbidden')
  expect((await settings.login(email, password)).data(Session).workspaces).toEqual([])

  await users.patch(invited.id, { status: 'active', role: 'viewer' })
  const { principal } = (await settings.verify(accessToken, inAcme)).data(VerifiedToken)
  expect(principal.permissions).not.toContain('itsm:write')

  const removed = (await users.remove(invited.id)).data(User)
  expect(removed).toMatchObject({ status: 'deactivated', allowedActions: ['invite'] })
  expect(await Promise.all(tokens.map(codeOf))).toEqual([
    ...['workspace_forbidden', 'workspace_forbidden', 'invalid_token'],
  ])
  expect((await users.remove(invited.id)).error().code).toBe('invalid_state_transition')

  const again = await users.invited(email, 'agent')
  expect(again).toMatchObject({ id: invited.id, status: 'invited', createdAt: invited.createdAt })
  await users.accept({ token: again.token, password })
  expect((await settings.verify(accessToken, inAcme)).status).toBe(200)
  expect(await codeOf(key.token ?? '')).toBe('invalid_token')

  const types = await waitFor(() => {
    const mine = recorder.published.filter(({ event }) => event.resource.id === invited.id)
    const ofUser = mine.map(({ event }) => event.type).filter((type) => type.startsWith('user.'))
    return ofUser.length >= 8 && ofUser
  })
  expect(types).toEqual([
    ...['user.invited', 'user.activated', 'user.suspended', 'user.role_changed', 'user.reactivated'],
    ...['user.deactivated', 'user.invited', 'user.activated'],
  ])
  expect(JSON.stringify(recorder.published)).not.toMatch(/tokenHash|passwordHash/)
})
