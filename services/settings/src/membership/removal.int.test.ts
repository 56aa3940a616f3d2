import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { type Settings, startSettings } from '../settings.fixture.js'
import { createUserClient } from './users.fixture.js'

let settings: Settings
beforeAll(async () => {
  // A service that does not respond, so its resources cannot be taken over.
  settings = await startSettings({ SERVICE_URLS: JSON.stringify({ itsm: 'http://127.0.0.1:1' }) })
})
afterAll(() => settings?.stop())

it('refuses to remove an outdated version of a user, before a successor takes over any resource', async () => {
  const ada = await settings.owner('acme')
  const api = await settings.as(ada.session, { workspace: 'acme' })
  const { userId } = await createUserClient(settings, ada, api).joined('edith@example.com')
  const remove = async (version: number) => {
    const headers = { 'if-match': `"${version}"` }
    const path = `/settings/users/${userId}?successor=${ada.userId}`
    return (await api.send('DELETE', path, { headers })).error().code
  }
  expect(await remove(1)).toBe('precondition_failed')
  expect(await remove(2)).toBe('service_unavailable')
})
