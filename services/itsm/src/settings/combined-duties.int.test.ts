import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { Article, Change } from '@opsplane/contracts'
import { type SharedService, testPrincipal } from '@opsplane/testing'
import { joinItsm } from '../joined.fixture.js'

let service: SharedService
beforeAll(async () => {
  service = await joinItsm()
})
afterAll(() => service?.stop())

const plan = {
  title: 'Bigger disks',
  type: 'normal',
  plannedStart: '2099-03-02T20:00:00Z',
  plannedEnd: '2099-03-02T22:00:00Z',
  implementationPlan: 'Swap.',
  backoutPlan: 'Swap back.',
}

/** A workspace with a single member. */
async function alone() {
  const principal = testPrincipal()
  const api = service.as(principal)
  const allow = () => api.patch('/itsm/settings', { separationOfDuties: false })
  const submitted = async () => {
    const { id } = (await api.post('/itsm/changes', { ...plan, assigneeId: principal.userId })).data(Change)
    return (await api.post(`/itsm/changes/${id}/submit`)).data(Change)
  }
  return { api, allow, submitted }
}

it('allows one person to complete a change from draft to closure without separation of duties', async () => {
  const { api, allow, submitted } = await alone()
  expect((await allow()).status).toBe(200)
  const { id } = await submitted()
  const act = async (action: string, body: object = {}) =>
    (await api.post(`/itsm/changes/${id}/${action}`, body)).data(Change)
  const authorizing = await act('approve')
  expect(authorizing.status).toBe('authorize')
  const approvalId = authorizing.approvals.find(({ status }) => status === 'pending')?.id
  expect((await act('approve', { approvalId })).status).toBe('scheduled')
  await act('implement')
  expect((await act('complete', { outcome: 'successful' })).status).toBe('review')
  expect((await act('close')).status).toBe('closed')
})

it('allows authors to publish their own articles without separation of duties', async () => {
  const { api, allow } = await alone()
  const { id } = (await api.post('/knowledge', { title: 'Coffee', body: 'Fill in beans.' })).data(Article)
  await api.post(`/knowledge/${id}/submit`)
  expect((await api.post(`/knowledge/${id}/approve`)).error().code).toBe('forbidden')
  await allow()
  expect((await api.post(`/knowledge/${id}/approve`)).data(Article).status).toBe('published')
})

it('applies to each change the separation-of-duties setting of the time it was submitted', async () => {
  const { api, allow, submitted } = await alone()
  const before = await submitted()
  await allow()
  const approve = (id: string) => api.post(`/itsm/changes/${id}/approve`)
  expect((await approve(before.id)).error().code).toBe('forbidden')
  const during = await submitted()
  await api.patch('/itsm/settings', { separationOfDuties: true })
  expect((await approve(during.id)).status).toBe(200)
  expect((await approve((await submitted()).id)).error().code).toBe('forbidden')
})
