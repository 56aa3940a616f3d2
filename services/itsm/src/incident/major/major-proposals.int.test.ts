import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import {
  ConfigurationItem,
  defaultMajorRules,
  Incident,
  ItsmSettings,
  type MajorRule,
  systemActor,
} from '@opsplane/contracts'
import {
  startTestService,
  type TestService,
  testPrincipal,
  waitFor,
  waitUntilSettled,
} from '@opsplane/testing'
import { itsm } from '../../service.js'

let service: TestService
beforeAll(async () => {
  service = await startTestService(itsm)
})
afterAll(() => service?.stop())

async function settings(majorRules?: MajorRule[]) {
  const api = service.as(testPrincipal())
  if (majorRules) expect((await api.patch('/itsm/settings', { majorRules })).status).toBe(200)
  const open = async (fields: object = {}) =>
    (await api.post('/itsm/incidents', { title: 'Checkout answers 502', ...fields })).data(Incident)
  const get = async ({ id }: Incident) => (await api.get(`/itsm/incidents/${id}`)).data(Incident)
  const edit = async ({ id }: Incident, fields: object) =>
    (await api.patch(`/itsm/incidents/${id}`, fields)).data(Incident)
  /** Waits for the proposal and returns it with its reason. */
  const reason = async (incident: Incident) => {
    await waitFor(async () => (await get(incident)).majorState === 'proposed')
    return (await get(incident)).majorProposal
  }
  return { api, open, get, edit, reason }
}
const urgentOnly: MajorRule = { name: 'Most pressing', priorities: ['P1'] }

describe('an incident is proposed as a major incident automatically', () => {
  it('when it is opened with the priority of a rule, or reaches that priority', async () => {
    const { open, edit, reason } = await settings([urgentOnly])
    const proposal = { by: systemActor, reason: 'Most pressing: priority P1.' }
    expect(await reason(await open({ impact: 'high', urgency: 'high' }))).toMatchObject(proposal)
    const other = await open()
    await edit(other, { priorityOverride: { priority: 'P1', reason: 'The board is affected.' } })
    expect(await reason(other)).toMatchObject(proposal)
  })

  it('when it concerns a critical item', async () => {
    const { api, open, edit, reason } = await settings([{ name: 'Heart', criticalities: ['critical'] }])
    const item = async (criticality: string) => {
      const given = { class: 'service', name: 'Shop', status: 'operational', criticality }
      return (await api.post('/cmdb/items', given)).data(ConfigurationItem).id
    }
    const one = await open({ ciId: await item('low') })
    await edit(one, { ciId: await item('critical') })
    expect((await reason(one))?.reason).toBe('Heart: an item of critical criticality.')
  })

  it('when it has 10 children, by the default rules', async () => {
    const { api, open, reason } = await settings()
    expect((await api.get('/itsm/settings')).data(ItsmSettings).majorRules).toEqual(defaultMajorRules)
    const parent = await open()
    for (let child = 0; child < 10; child++) await open({ parentId: parent.id })
    expect((await reason(parent))?.reason).toBe('Many children: 10 children.')
  })

  it('only once, and not again after a decision', async () => {
    const { api, open, edit, get, reason } = await settings([urgentOnly])
    const one = await open({ impact: 'high', urgency: 'high' })
    await reason(one)
    await api.post(`/itsm/incidents/${one.id}/major/reject`, {})
    await edit(one, { urgency: 'low' })
    await edit(one, { urgency: 'high' })
    await waitUntilSettled(service)
    expect((await get(one)).majorState).toBe('rejected')
    const rows = await service.sql`
      select 1 from events where stream_id = ${one.id} and type = 'incident.major_changed'`
    expect(rows).toHaveLength(2)
  })

  it('unless no rule matches or the incident has ended', async () => {
    const { open, edit, get } = await settings([urgentOnly])
    const [mild, canceled] = [await open({ impact: 'high' }), await open()]
    await edit(canceled, { impact: 'high', urgency: 'high', status: 'canceled' })
    await waitUntilSettled(service)
    expect([(await get(mild)).majorState, (await get(canceled)).majorState]).toEqual(['none', 'none'])
  })
})
