import { afterAll, beforeAll, expect, it, test } from '@jest/globals'
import { Me, TokenCreated } from '@opsplane/contracts'
import { createUserClient } from '../membership/users.fixture.js'
import { type Owner, password, type Settings, startSettings } from '../settings.fixture.js'

let settings: Settings
let ada: Owner
beforeAll(async () => {
  settings = await startSettings({ OPERATORS: 'ADA@example.com, boss@example.com' })
  ada = await settings.owner('ada')
})
afterAll(() => settings?.stop())

const isOperator = async (token: string, workspace?: string) => {
  const client = await settings.as(token, workspace === undefined ? {} : { workspace })
  return (await client.get('/auth/me')).data(Me).operator
}
const bootstrap = (slug: string, email: string, fields: object = {}) =>
  settings.internal.post('/internal/bootstrap', {
    ...{ workspaceName: slug, workspaceSlug: slug, userName: 'Owner', email, password },
    ...fields,
  })

test('a login created by bootstrap and named in the configuration is an operator', async () => {
  expect(await isOperator(ada.session)).toBe(true)
  expect(await isOperator(ada.session, 'ada')).toBe(true)
  expect(await isOperator((await settings.owner('eve')).session)).toBe(false)
})

test('an API key of an operator is not an operator, whatever its scopes', async () => {
  const api = await settings.as(ada.session, { workspace: 'ada' })
  const { token } = (await api.post('/auth/tokens', { name: 'k', scopes: ['itsm:read'] })).data(TokenCreated)
  expect(await isOperator(String(token), 'ada')).toBe(false)
})

it('an invitation to the address of an operator makes no operator until the address is proven', async () => {
  const api = await settings.as(ada.session, { workspace: 'ada' })
  const impostor = await createUserClient(settings, ada, api).joined('boss@example.com')
  expect(await isOperator(impostor.session)).toBe(false)
  // The bootstrap of another workspace makes no operator either, because it keeps the password that another person set.
  const kept = await bootstrap('boss', 'boss@example.com', {
    existingLogin: 'keep',
    password: 'not the same one',
  })
  expect(kept.status).toBe(200)
  expect((await bootstrap('boss', 'boss@example.com', { password: 'not the same one' })).status).toBe(200)
  expect(await isOperator(impostor.session)).toBe(false)

  await settings.service.sql`
    update accounts set state = jsonb_set(state::jsonb, '{addressProvenAt}', '"2026-01-01T00:00:00.000Z"')
    where id = ${impostor.userId}`
  expect(await isOperator(impostor.session)).toBe(true)
})

test('a login without a bootstrap mark becomes an operator by a bootstrap with its password', async () => {
  await settings.service.sql`delete from bootstrapped_accounts where account_id = ${ada.userId}`
  expect(await isOperator(ada.session)).toBe(false)
  await bootstrap('ada', ada.email, { password: 'not the same one' })
  expect(await isOperator(ada.session)).toBe(false)
  await bootstrap('ada', ada.email)
  expect(await isOperator(ada.session)).toBe(true)
})
