import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { Bootstrapped, Me, Session, User, WorkspaceAccess } from '@opsplane/contracts'
import type { ApiClient } from '@opsplane/testing'
import { createUserClient } from '../membership/users.fixture.js'
import { type Owner, password, type Settings, startSettings } from '../settings.fixture.js'

let settings: Settings
let eve: Owner
let api: ApiClient
let users: ReturnType<typeof createUserClient>
beforeAll(async () => {
  settings = await startSettings()
  eve = await settings.owner('evil')
  api = await settings.as(eve.session, { workspace: 'evil' })
  users = createUserClient(settings, eve, api)
})
afterAll(() => settings?.stop())

const bootstrap = (workspaceSlug: string, email: string, more: object = {}) =>
  settings.internal.post('/internal/bootstrap', {
    ...{ workspaceSlug, workspaceName: workspaceSlug, userName: 'Owner', email },
    ...{ password: 'what the operator chose', ...more },
  })

describe('a login that an inviting admin claimed first, without a mail server', () => {
  it('is not made an owner by the bootstrap of the real person', async () => {
    await users.joined('victim@example.com')
    expect((await bootstrap('target', 'victim@example.com')).error()).toMatchObject({
      code: 'conflict',
      details: [{ path: '/email', code: 'login_exists' }],
    })
    const { workspaces } = (await settings.login('victim@example.com', password)).data(Session)
    expect(workspaces.map(({ slug }) => slug)).toEqual(['evil'])
  })

  it('is not made an owner through an invitation that is still open', async () => {
    const { token } = await users.invited('pending@example.com')
    expect((await bootstrap('pending', 'pending@example.com')).error().details[0]?.code).toBe('login_exists')
    const wanted = { existingLogin: 'keep' }
    expect((await bootstrap('pending', 'pending@example.com', wanted)).status).toBe(200)
    expect((await users.accept({ token, name: 'Eve', password })).error().code).toBe('invalid_credentials')
  })

  it('is made an owner when the operator confirms the existing login', async () => {
    await users.joined('known@example.com')
    const made = (await bootstrap('known', 'known@example.com', { existingLogin: 'keep' })).data(Bootstrapped)
    const { workspaces, user } = (await settings.login('known@example.com', password)).data(Session)
    expect(workspaces.find(({ slug }) => slug === 'known')).toMatchObject({ role: 'owner' })
    expect(user.id).toBe(made.userId)
  })

  it('is shown as a user with an unproven address', async () => {
    const { userId, session } = await users.joined('unproven@example.com')
    const listed = (await api.get('/settings/users?limit=200')).page(User).items
    expect(listed.find(({ id }) => id === userId)).toMatchObject({ addressProven: false })
    const own = await settings.as(session, { workspace: 'evil' })
    expect((await own.get('/auth/me')).data(Me).user).toMatchObject({ addressProvenAt: null })
  })
})

describe('bootstrap', () => {
  it('can be repeated with the same result', async () => {
    const first = (await bootstrap('again', 'again@example.com')).data(Bootstrapped)
    expect((await bootstrap('again', 'again@example.com')).data(Bootstrapped)).toEqual(first)
  })

  it('does not accept another member of the workspace as its owner', async () => {
    const { userId } = await users.joined('member@example.com', 'viewer')
    expect((await bootstrap('evil', 'member@example.com')).error().code).toBe('conflict')
    const viewer = await settings.as(
      (await settings.login('member@example.com', password)).data(Session).accessToken,
      {
        workspace: 'evil',
      },
    )
    const [access] = (await viewer.get('/workspaces')).page(WorkspaceAccess).items
    expect([access?.role, userId]).toEqual(['viewer', userId])
  })
})
