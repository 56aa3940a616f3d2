import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { newId, SlaPolicy, SlaReapplied, SlaTimerItem } from '@opsplane/contracts'
import { type ApiClient, type SharedService, waitFor } from '@opsplane/testing'
import { createActiveItem, order, rules, team } from '../../catalog/catalog.fixture.js'
import { joinItsm } from '../../joined.fixture.js'

let service: SharedService
beforeAll(async () => {
  service = await joinItsm()
})
afterAll(() => service?.stop())

const withoutRequestId = (text: string) => text.replace(/"requestId":"[^"]*"/, '')

/** Ada has submitted a request that the approver has to approve. All members may read clocks. */
async function asked() {
  const members = team(service)
  const reading = ({ principal }: (typeof members)['ada']) =>
    service.as({ ...principal, permissions: [...principal.permissions, 'itsm:read', 'sla:write'] })
  const { manager, ada, ben, approver, other } = members
  const readers = { manager, ada, ben, approver, other }
  const apis = Object.fromEntries(Object.entries(readers).map(([name, member]) => [name, reading(member)]))
  const body = {
    name: 'Requests',
    entityType: 'request',
    metric: 'resolution',
    goalsBy: 'all',
    goals: { all: 60 },
  }
  const policy = (await reading(manager).post('/itsm/sla-policies', body)).data(SlaPolicy)
  const request = await order(ada.api, await createActiveItem(members, { approvals: rules(members) }))
  const timer = await waitFor(async () => (await clocksOf(reading(manager)))[0])
  return { apis: Object.entries(apis), policy, request, timer }
}
const clocksOf = async (api: ApiClient, query = '') =>
  (await api.get(`/itsm/sla-timers?entityType=request${query}`)).page(SlaTimerItem).items
const see = ['manager', 'ada', 'approver']

it('shows the SLA clocks of a request only to callers who may see the request', async () => {
  const { apis, request, timer } = await asked()
  for (const [name, api] of apis) {
    for (const query of [
      '',
      `&q=${request.number}`,
      `&entityId=${request.id}`,
      '&asOf=2030-01-01T00:00:00Z',
    ]) {
      const ids = (await clocksOf(api, query)).map(({ id }) => id)
      expect([name, query, ids]).toEqual([name, query, see.includes(name) ? [timer.id] : []])
    }
    for (const query of ['', '?asOf=2030-01-01T00:00:00Z']) {
      const [one, none] = [timer.id, newId('slaTimer')].map((id) => api.get(`/itsm/sla-timers/${id}${query}`))
      if (see.includes(name)) expect((await one)?.status).toBe(200)
      else expect(withoutRequestId((await one)?.text ?? '')).toBe(withoutRequestId((await none)?.text ?? ' '))
    }
  }
})

it('previews an SLA policy for a request only to callers who may see the request', async () => {
  const { apis, request, policy } = await asked()
  for (const [name, api] of apis) {
    const preview = (entityId: string) => api.post(`/itsm/sla-policies/${policy.id}/preview`, { entityId })
    const unknown = withoutRequestId((await preview('REQ-99999')).text)
    for (const reference of [request.id, request.number]) {
      const reply = await preview(reference)
      if (see.includes(name)) expect(reply.status).toBe(200)
      else expect(withoutRequestId(reply.text)).toBe(unknown)
    }
  }
})

it('names requests whose SLA clocks are recomputed only to callers who may see them', async () => {
  const { apis, request, policy } = await asked()
  const path = `/itsm/sla-policies/${policy.id}`
  await apis[0]?.[1].patch(path, { goals: { all: 90 } })
  for (const [name, api] of apis) {
    const { changed, changes } = (await api.post(`${path}/reapply`, {})).data(SlaReapplied)
    const named = changes.map(({ entityId }) => entityId)
    expect([name, changed, named]).toEqual([name, 1, see.includes(name) ? [request.id] : []])
  }
})
