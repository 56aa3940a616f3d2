import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { Change, ConfigurationItem, type Principal } from '@opsplane/contracts'
import { type ApiReply, type SharedService, testPrincipal } from '@opsplane/testing'
import { joinItsm } from '../../joined.fixture.js'
import { newTemplate } from './template.fixture.js'

let service: SharedService
const principal = testPrincipal()

beforeAll(async () => {
  service = await joinItsm()
})
afterAll(() => service?.stop())

const planned = { plannedStart: '2026-03-07T22:00:00.000Z', plannedEnd: '2026-03-08T02:00:00.000Z' }
const create = (fields: object, as: Principal = principal): Promise<ApiReply> =>
  service.as(as).post('/itsm/changes', { type: 'standard', ...planned, ...fields })
const draft = async (fields: object, as?: Principal): Promise<Change> =>
  (await create(fields, as)).data(Change)
const patch = ({ id }: Change, fields: object) => service.as(principal).patch(`/itsm/changes/${id}`, fields)
const submit = ({ id }: Change) => service.as(principal).post(`/itsm/changes/${id}/submit`)
const alter = (templateId: string, fields: object) =>
  service.as(principal).patch(`/itsm/change-templates/${templateId}`, fields)
const faults = (reply: ApiReply) => {
  expect(reply.status).toBe(422)
  return reply.error().details.map(({ path, code }) => [path, code])
}
const item = async (ciClass: string): Promise<string> =>
  (
    await service.as(principal).post('/cmdb/items', { class: ciClass, name: ciClass, status: 'operational' })
  ).data(ConfigurationItem).id

describe('a standard change', () => {
  it('uses the texts of the template at the time of submission', async () => {
    const templateId = await newTemplate(service.as(principal), { testPlan: 'Look.', successProbability: 99 })
    const change = await draft({ templateId })
    expect(change).toMatchObject({
      ...{ title: 'New disks', templateId, implementationPlan: 'Swap them.', testPlan: 'Look.', risk: 'low' },
    })
    await alter(templateId, { implementationPlan: 'Swap them one by one.', testPlan: null, impact: 'high' })
    expect(faults(await patch(change, { implementationPlan: 'Swap them one by one.' }))).toEqual([
      ['/implementationPlan', 'from_template'],
    ])
    const scheduled = (await submit(change)).data(Change)
    expect(scheduled).toMatchObject({
      ...{
        status: 'scheduled',
        implementationPlan: 'Swap them one by one.',
        testPlan: null,
        risk: 'moderate',
      },
    })
    await alter(templateId, { backoutPlan: 'There is no way back.' })
    await service.as(principal).send('DELETE', `/itsm/change-templates/${templateId}`)
    const begun = await service.as(principal).post(`/itsm/changes/${change.id}/implement`)
    expect(begun.data(Change)).toMatchObject({ status: 'implementing', backoutPlan: 'Swap them back.' })
  })

  it('requires an active template of its workspace and environment', async () => {
    const elsewhere = [testPrincipal(), testPrincipal({ ...principal, environment: 'staging' })]
    const foreign = await Promise.all(elsewhere.map((as) => newTemplate(service.as(as))))
    const inactive = await newTemplate(service.as(principal), { status: 'inactive' })
    const refused = [
      [undefined, 'required'],
      [null, 'required'],
      [inactive, 'inactive'],
      ['ctp_01JZ8Q4D3N5W7X9Y2B4C6D8E0F', 'not_found'],
      ['disk-swap', 'invalid_format'],
      ...foreign.map((id) => [id, 'not_found']),
    ]
    for (const [templateId, code] of refused)
      expect(faults(await create({ title: 'T', templateId }))).toEqual([['/templateId', code]])

    const templateId = await newTemplate(service.as(principal))
    const change = await draft({ templateId })
    for (const [other, code] of refused.slice(1))
      expect(faults(await patch(change, { templateId: other }))).toEqual([['/templateId', code]])
    await alter(templateId, { status: 'inactive' })
    expect(faults(await submit(change))).toEqual([['/templateId', 'inactive']])
    await service.as(principal).send('DELETE', `/itsm/change-templates/${templateId}`)
    expect(faults(await submit(change))).toEqual([['/templateId', 'not_found']])
    expect((await patch(change, { assignmentGroup: 'db' })).status).toBe(200)
  })

  it('requires a title if the template has none, like any other change', async () => {
    const templateId = await newTemplate(service.as(principal), { title: null })
    for (const fields of [{ templateId }, { type: 'normal' }])
      expect(faults(await create(fields))).toEqual([['/title', 'required']])
    expect((await draft({ templateId, title: 'Mine' })).title).toBe('Mine')
  })

  it('is limited to the item classes and the duration of its template', async () => {
    const [database, server] = [await item('database'), await item('server')]
    const templateId = await newTemplate(service.as(principal), {
      ciClasses: ['database'],
      maxDurationMinutes: 240,
    })
    const beyond = { ciIds: [database, server], plannedEnd: '2026-03-08T02:01:00.000Z' }
    const both = [
      ['/plannedEnd', 'too_long'],
      ['/ciIds/1', 'wrong_class'],
    ]
    expect(faults(await create({ templateId, ...beyond }))).toEqual(both)
    const change = await draft({ templateId, ciIds: [database] })
    expect(faults(await patch(change, beyond))).toEqual(both)
    await alter(templateId, { ciClasses: ['server'], maxDurationMinutes: 30 })
    expect(faults(await submit(change))).toEqual([
      ['/plannedEnd', 'too_long'],
      ['/ciIds/0', 'wrong_class'],
    ])
    await alter(templateId, { ciClasses: null, maxDurationMinutes: null })
    expect((await submit(change)).data(Change).status).toBe('scheduled')
  })

  it('can be converted to a normal change with the same texts, which can then be edited', async () => {
    const change = await draft({ templateId: await newTemplate(service.as(principal)) })
    const normal = (await patch(change, { type: 'normal' })).data(Change)
    expect(normal).toMatchObject({ type: 'normal', templateId: null, implementationPlan: 'Swap them.' })
    const own = (await patch(change, { implementationPlan: 'Mine.' })).data(Change)
    expect(own.implementationPlan).toBe('Mine.')
    const asOf = await service.as(principal).get(`/itsm/changes/${change.id}?asOf=${change.createdAt}`)
    expect(asOf.data(Change)).toEqual(change)
  })

  it('with the longest texts fits in an event', async () => {
    const long = '语'.repeat(20_000)
    const texts = { implementationPlan: long, testPlan: long, backoutPlan: long }
    const templateId = await newTemplate(service.as(principal), { ...texts, description: '语'.repeat(2_000) })
    const change = await draft({ templateId, description: long })
    await alter(templateId, { testPlan: `${long.slice(1)}.` })
    expect((await submit(change)).data(Change)).toMatchObject({ status: 'scheduled', backoutPlan: long })
  })
})

describe('a standard change created before templates existed', () => {
  /** The row of a change as older versions wrote it. */
  const old = async (templateId: string | null, status: 'draft' | 'scheduled'): Promise<Change> => {
    const change = await draft({ templateId: await newTemplate(service.as(principal)) })
    if (status === 'scheduled') await submit(change)
    await service.sql`
      update changes set state = jsonb_set(state::jsonb, '{templateId}', ${JSON.stringify(templateId)}::text::jsonb)::json
      where id = ${change.id}`
    return (await service.as(principal).get(`/itsm/changes/${change.id}`)).data(Change)
  }

  it.each(['disk-swap', null])(
    'continues if it was submitted already, and otherwise requires a template: %j',
    async (templateId) => {
      const scheduled = await old(templateId, 'scheduled')
      expect(scheduled).toMatchObject({ status: 'scheduled', templateId })
      const begun = await service.as(principal).post(`/itsm/changes/${scheduled.id}/implement`)
      expect(begun.data(Change)).toMatchObject({ status: 'implementing', templateId })

      const kept = await old(templateId, 'draft')
      expect((await patch(kept, { implementationPlan: 'Mine.' })).data(Change)).toMatchObject({ templateId })
      const code = templateId === null ? 'required' : 'not_found'
      expect(faults(await submit(kept))).toEqual([['/templateId', code]])
      const given = { templateId: await newTemplate(service.as(principal)) }
      expect((await patch(kept, given)).data(Change)).toMatchObject({
        ...given,
        implementationPlan: 'Swap them.',
      })
      expect((await submit(kept)).data(Change).status).toBe('scheduled')
    },
  )
})

it('lists the changes of a template, also as of a past instant', async () => {
  const of = testPrincipal()
  const [one, other] = [await newTemplate(service.as(of)), await newTemplate(service.as(of))]
  const first = await draft({ templateId: one }, of)
  const second = await draft({ templateId: other }, of)
  const path = `/itsm/changes/${first.id}`
  const moved = (await service.as(of).patch(path, { templateId: other })).data(Change)
  const listed = async (query: string, as = of) =>
    (await service.as(as).get(`/itsm/changes?${query}`)).page(Change).items.map(({ id }) => id)
  expect(await listed(`templateId=${one}`)).toEqual([])
  expect(await listed(`templateId=${other}`)).toEqual([second.id, first.id])
  expect(await listed(`templateId=${other}&q=disks&type=standard`)).toEqual([second.id, first.id])
  expect(await listed(`templateId=${one}&asOf=${second.createdAt}`)).toEqual([first.id])
  expect(await listed(`templateId=${other}&asOf=${moved.updatedAt}`)).toEqual([second.id, first.id])
  expect(await listed(`templateId=${other}`, testPrincipal())).toEqual([])
})
