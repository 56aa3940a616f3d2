import { beforeAll, expect, test } from '@jest/globals'
import { waitFor } from '@opsplane/testing'
import { type Api, apiClient } from './platform.js'
import { joinPlatform, type SharedPlatform } from './shared/platform.js'

/**
 * Tests what a user and an embed can read and write in an app, depending on the rights and row rules of the app's
 * giver, the user and the maker of the embed token.
 */

let platform: SharedPlatform
let api: Api
beforeAll(async () => {
  platform = await joinPlatform()
  api = apiClient(platform.info)
  const data = ['records:read', 'records:write']
  const roles = {
    giver: ['apps:read', 'apps:deploy', 'tables:read', ...data],
    maker: ['apps:read', 'apps:deploy', ...data],
    user: ['apps:use'],
    guest: ['workspace:read'],
    stripped: ['apps:read', 'apps:deploy', 'tables:read', 'records:write'],
  }
  for (const [role, permissions] of Object.entries(roles))
    for (const name of [role, `${role}-north`]) await make('/settings/roles', { name, permissions })
})

async function make<T = { id: string }>(path: string, body: object, bearer?: string): Promise<T> {
  const headers = bearer === undefined ? {} : { authorization: bearer }
  const answer = await api<{ data: T }>('POST', path, { body, headers })
  if (answer.status >= 300) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
  return answer.body.data
}

interface Person {
  id: string
  bearer: string
}
async function invite(role: string, email: string): Promise<Person> {
  const { id, invitation } = await make<{ id: string; invitation: { token: string } }>(
    '/settings/users/invite',
    { email, role },
  )
  const accepted = { token: invitation.token, name: role, password: 'correct horse battery staple' }
  const { accessToken } = await make<{ accessToken: string }>('/auth/invitations/accept', accepted)
  return { id, bearer: `Bearer ${accessToken}` }
}

interface Scene {
  app: string
  slug: string
  giver: Person
  maker: Person
  user: Person
}
interface Cast {
  giver?: string
  maker?: string
  user?: string
}

/**
 * Creates a table with one record of the north and one of the south, of which the north roles see only the first,
 * and an app for it.
 */
async function stage(number: number, { giver = 'giver', maker = 'maker', user = 'user' }: Cast) {
  const [slug, table] = [`rights-${number}`, `assets_${number}`]
  const rules = ['giver-north', 'maker-north', 'user-north'].map((role) => ({
    ...{ role, read: { site: 'north' }, write: { site: 'north' } },
  }))
  const columns = ['serial', 'site'].map((name) => ({ name, type: 'text' }))
  await make('/tables', { slug: table, columns, rules })
  for (const site of ['north', 'south']) await make(`/tables/${table}/records`, { serial: site, site })
  const { id: app } = await make('/apps', { slug, name: slug })
  await make(`/apps/${app}/pages`, { slug: 'home', title: 'Home' })
  const binding = {
    ...{ kind: 'table', table, operations: ['list', 'create'], writable: ['serial', 'site'], sort: 'serial' },
  }
  await make(`/apps/${app}/data-sources`, { name: 'assets', binding })
  const person = (role: string) => invite(role, `${role}-${number}@example.com`)
  const scene: Scene = {
    ...{ app, slug, giver: await person(giver), maker: await person(maker), user: await person(user) },
  }
  await make(`/apps/${app}/deploy`, { embeddable: true }, scene.giver.bearer)
  const origins = ['https://portal.example.com']
  const { token } = await make<{ token: string }>(`/apps/${app}/embed-token`, { origins }, scene.maker.bearer)
  return { ...scene, embed: `Bearer ${token}` }
}

interface Failure {
  error?: { code: string; details?: { code: string }[] }
}
async function running<T>(slug: string, path: string, body: object, authorization: string) {
  const response = await fetch(
    `${new URL(platform.info.baseUrl).origin}/apps/${platform.info.workspace}/${slug}/-/${path}`,
    {
      method: 'POST',
      headers: { authorization, 'x-workspace': platform.info.workspace, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    },
  )
  return (await response.json()) as Failure & { data?: T }
}
const codeOf = ({ error }: Failure) => error?.details?.[0]?.code ?? error?.code

/** Serials of the visible records, or the reason for a refusal. */
async function read(slug: string, bearer: string): Promise<unknown> {
  interface Part {
    rows?: { serial: string }[]
    error?: { code: string }
  }
  const request = { requests: [{ key: 'all', source: 'assets' }] }
  const answer = await running<{ results: { all: Part } }>(slug, 'data', request, bearer)
  const part = answer.data?.results.all
  return part ? (part.rows?.map(({ serial }) => serial) ?? part.error?.code) : codeOf(answer)
}

/** Whether a record of the south can be created, or the reason for a refusal. */
async function write(slug: string, bearer: string): Promise<unknown> {
  const values = { serial: 'new', site: 'south' }
  const answer = await running(slug, 'actions', { source: 'assets', operation: 'create', values }, bearer)
  return answer.error ? codeOf(answer) : 'written'
}

const both = ['north', 'south']
const north = ['north']
const changeRole = (person: Person, role: string) =>
  api('PATCH', `/settings/users/${person.id}`, { body: { role } })
const setAccess = ({ app }: Scene, access: object) => api('PATCH', `/apps/${app}`, { body: { access } })

interface Case {
  cast?: Cast
  change?: (scene: Scene) => Promise<unknown>
  /** Expected results of reading and writing, for the user and for the embed. */
  expected: { user: [read: unknown, write: unknown]; embed: [read: unknown, write: unknown] }
}
const all: [unknown, unknown] = [both, 'written']
const held: [unknown, unknown] = ['owner_rights', 'owner_rights']
const ended: [unknown, unknown] = ['invalid_token', 'invalid_token']

const cases: Record<string, Case> = {
  'nothing else': { expected: { user: all, embed: all } },
  'a giver under a row rule': {
    cast: { giver: 'giver-north' },
    expected: { user: [north, 'forbidden'], embed: [north, 'forbidden'] },
  },
  'a user under a row rule': {
    cast: { user: 'user-north' },
    expected: { user: [north, 'forbidden'], embed: all },
  },
  'a maker under a row rule': {
    cast: { maker: 'maker-north' },
    expected: { user: all, embed: [north, 'forbidden'] },
  },
  'a giver who has lost a right': {
    change: ({ giver }) => changeRole(giver, 'stripped'),
    expected: { user: held, embed: held },
  },
  'a giver who has left': {
    change: ({ giver }) => api('DELETE', `/settings/users/${giver.id}`),
    // The embed token also depends on the giver's rights.
    expected: { user: held, embed: ended },
  },
  'a maker who has lost a right': {
    change: ({ maker }) => changeRole(maker, 'stripped'),
    expected: { user: all, embed: ended },
  },
  'a maker who has left': {
    change: ({ maker }) => api('DELETE', `/settings/users/${maker.id}`),
    expected: { user: all, embed: ended },
  },
  'a user without apps:use': {
    cast: { user: 'guest' },
    expected: { user: ['insufficient_scope', 'insufficient_scope'], embed: all },
  },
  'a user whom the access does not name': {
    change: (scene) => setAccess(scene, { roles: ['guest'] }),
    expected: { user: ['not_shared', 'not_shared'], embed: all },
  },
  'a user without apps:use whom the access names': {
    cast: { user: 'guest' },
    change: (scene) => setAccess(scene, { users: [scene.user.id] }),
    expected: { user: all, embed: all },
  },
}

test.each(Object.entries(cases))(
  'a user and an embed can read and write only as permitted in an app with %s',
  async (name, { cast = {}, change, expected }) => {
    const scene = await stage(Object.keys(cases).indexOf(name), cast)
    const { slug, user, embed } = scene
    await change?.(scene)
    const reads = async () => [await read(slug, user.bearer), await read(slug, embed)]
    // Changes of rights are received from the event stream.
    await waitFor(async () => {
      const seen = await reads()
      expect(seen).toEqual([expected.user[0], expected.embed[0]])
      return true
    })
    expect([await write(slug, user.bearer), await write(slug, embed)]).toEqual([
      ...[expected.user[1], expected.embed[1]],
    ])
    // Rights granted only through the app do not apply to the API itself.
    const direct = await api('GET', `/tables/assets_${Object.keys(cases).indexOf(name)}/records`, {
      headers: { authorization: user.bearer },
    })
    expect(direct.status).toBe(403)
  },
)

test('a suspended app shows all its data again once it is taken over by one call', async () => {
  const scene = await stage(100, {})
  await changeRole(scene.giver, 'stripped')
  await waitFor(async () => (await read(scene.slug, scene.user.bearer)) === 'owner_rights')
  const notified = async () => {
    const { body } = await api<{ data: { type: string; message: string }[] }>('GET', '/notifications')
    return body.data.find(({ type, message }) => type === 'deploy.suspended' && message.includes(scene.app))
  }
  expect(await waitFor(notified)).toMatchObject({ message: expect.stringContaining('records:read') })
  expect(await make(`/apps/${scene.app}/take-over`, {}, scene.maker.bearer)).toMatchObject({
    ...{ giverId: scene.maker.id, deployedBy: scene.giver.id, heldReason: null, number: 1 },
  })
  expect(await read(scene.slug, scene.user.bearer)).toEqual(both)
  expect(await read(scene.slug, scene.embed)).toEqual(both)
})
