import { beforeAll, expect, test } from '@jest/globals'
import { waitFor } from '@opsplane/testing'
import { type Api, apiClient } from './platform.js'
import { joinPlatform, type SharedPlatform } from './shared/platform.js'

interface Resource {
  data: { id: string; status: string; [field: string]: unknown }
}
interface Invited {
  data: { id: string; invitation: { token: string; acceptPath: string } }
}
interface LoggedIn {
  data: { accessToken: string; workspaces: { slug: string; role: string }[] }
}
interface Refusal {
  error: { code: string }
}
interface List {
  data: { type: string; actor: { id: string } }[]
}

const email = 'grace@example.com'
const password = 'a password of grace'

let platform: SharedPlatform
let api: Api

beforeAll(async () => {
  platform = await joinPlatform()
  api = apiClient(platform.info)
})

const open = { authorization: undefined, 'x-workspace': undefined }
const as = (apiKey: string) => apiClient({ ...platform.info, apiKey })

/** Repeats the request until the client receives this status and code. */
const settlesAt = (client: Api, method: 'GET' | 'POST', status: number, code?: string) =>
  waitFor(async () => {
    const body = method === 'POST' ? { body: { title: 'Disk full' } } : {}
    const answer = await client<Refusal>(method, '/itsm/incidents', body)
    return answer.status === status && answer.body.error?.code === code
  })

test('a user is invited, works, loses permissions, is suspended, reactivated and removed', async () => {
  const role = { name: 'desk', permissions: ['itsm:read', 'itsm:write', 'tokens:manage'] }
  expect((await api('POST', '/settings/roles', { body: role })).status).toBe(201)
  const invitation = { email, role: 'desk', name: 'Grace' }
  const invited = await api<Invited>('POST', '/settings/users/invite', { body: invitation })
  expect(invited.status).toBe(201)
  const { id, invitation: given } = invited.body.data
  expect(given.acceptPath).toBe('/api/v1/auth/invitations/accept')

  const accept = () =>
    api<LoggedIn>('POST', '/auth/invitations/accept', {
      body: { token: given.token, password },
      headers: open,
    })
  const accepted = await accept()
  expect(accepted.status).toBe(201)
  expect(accepted.body.data.workspaces).toMatchObject([{ slug: platform.info.workspace, role: 'desk' }])
  expect((await accept()).status).toBe(401)

  const session = as(accepted.body.data.accessToken)
  const wanted = { name: 'desk key', scopes: ['itsm:read', 'itsm:write'] }
  const created = await session<{ data: { token: string } }>('POST', '/auth/tokens', { body: wanted })
  const key = as(created.body.data.token)
  for (const client of [session, key]) await settlesAt(client, 'POST', 201)
  expect((await session('GET', '/settings/users')).status).toBe(403)

  await api('PATCH', '/settings/roles/desk', { body: { permissions: ['itsm:read'] } })
  for (const client of [session, key]) await settlesAt(client, 'POST', 403, 'insufficient_scope')

  const path = `/settings/users/${id}`
  await api('PATCH', path, { body: { status: 'suspended' } })
  for (const client of [session, key]) await settlesAt(client, 'GET', 403, 'workspace_forbidden')
  await api('PATCH', path, { body: { status: 'active' } })
  for (const client of [session, key]) await settlesAt(client, 'GET', 200)

  const removed = await api<Resource>('DELETE', path)
  expect(removed.body.data.status).toBe('deactivated')
  await settlesAt(session, 'GET', 403, 'workspace_forbidden')
  await settlesAt(key, 'GET', 401, 'invalid_token')
  const login = await api<LoggedIn>('POST', '/auth/token', { body: { email, password }, headers: open })
  expect(login.body.data.workspaces).toEqual([])

  const types = await waitFor(async () => {
    const { body } = await api<List>('GET', `/audit?type=user.*&resourceId=${id}&sort=createdAt`)
    return body.data.length >= 5 && body.data
  })
  expect(types.map(({ type }) => type)).toEqual([
    ...['user.invited', 'user.activated', 'user.suspended', 'user.reactivated', 'user.deactivated'],
  ])
  expect(types[1]?.actor.id).toBe(id)
})

test('the last owner cannot be demoted', async () => {
  const me = (await api<{ data: { user: { id: string } } }>('GET', '/auth/me')).body.data.user
  const answer = await api<Refusal>('PATCH', `/settings/users/${me.id}`, { body: { role: 'admin' } })
  expect([answer.status, answer.body.error.code]).toEqual([409, 'conflict'])
})
