import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { backendNames, type InternalParty, internalParties } from '@opsplane/contracts'
import { testPrincipal } from '@opsplane/testing'
import { type Settings, startSettings } from './settings.fixture.js'

let settings: Settings
beforeAll(async () => {
  settings = await startSettings({}, { actsForPeople: ['itsm'] })
})
afterAll(() => settings?.stop())

/** Every internal route of settings, with who may call it. */
const routes: [string, string, readonly InternalParty[]][] = [
  ['POST', '/internal/tokens/verify', ['gateway']],
  ['POST', '/internal/secrets/resolve', ['dispatcher', 'integrations', 'workflows', 'sdk']],
  ['POST', '/internal/rights', ['dispatcher', 'workflows', 'sdk', 'analytics']],
  ['POST', '/internal/members', ['itsm']],
  ['POST', '/internal/environment-scope', ['workflows', 'database-studio']],
  ['POST', '/internal/retention', ['workflows', 'sdk']],
  ['POST', '/internal/bootstrap', ['operator']],
  ['POST', '/internal/grants', ['itsm']],
  ['POST', '/internal/grants/revoke', ['itsm']],
  ['POST', '/internal/grants/reinstate', ['itsm']],
  ['POST', '/internal/delegations', ['itsm']],
  ['POST', '/internal/budgets/lease', ['gateway']],
  ['POST', '/internal/rates/spend', ['gateway']],
  ['GET', '/internal/events?after=0', backendNames],
  ['GET', '/internal/events/end', backendNames],
  ['GET', '/internal/routes', ['gateway', 'workflows', 'sdk', 'apps']],
]

it.each(routes)(
  '%s %s opens to its callers and to no other service, client or stranger',
  async (...route) => {
    const [method, path, callers] = route
    for (const party of internalParties) {
      const { status } = await settings.service.asService(party).send(method, path, { body: undefined })
      expect([party, status === 403]).toEqual([party, !callers.includes(party)])
    }
    for (const client of [settings.service.as(), settings.service.as(testPrincipal())])
      expect((await client.send(method, path)).status).toBe(403)
  },
)
