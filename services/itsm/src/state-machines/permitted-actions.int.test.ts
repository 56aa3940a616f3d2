import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import {
  Article,
  CatalogItem,
  CatalogRequest,
  Change,
  ConfigurationItem,
  Incident,
  type Permission,
  Problem,
  permissions,
} from '@opsplane/contracts'
import { type ApiClient, type SharedService, testPrincipal } from '@opsplane/testing'
import type { z } from 'zod'
import { joinItsm } from '../joined.fixture.js'

let service: SharedService
const principal = testPrincipal()
beforeAll(async () => {
  service = await joinItsm()
})
afterAll(() => service?.stop())

const everything = () => service.as(principal)
const reading = permissions.filter((permission) => permission.endsWith(':read'))
const reader = (...more: Permission[]): ApiClient =>
  service.as({ ...principal, permissions: [...reading, ...more] })

const make = async <Record>(schema: z.ZodType<Record>, path: string, body: object): Promise<Record> =>
  (await everything().post(path, body)).data(schema)
const window = { plannedStart: '2026-03-07T22:00:00.000Z', plannedEnd: '2026-03-08T02:00:00.000Z' }

type Shown = { id: string; allowedActions: string[] }
interface Kind {
  path: string
  schema: z.ZodType<Shown>
  make: () => Promise<{ id: string }>
  /** Permissions in addition to the read permissions, with the actions they allow. */
  offered: [Permission[], string[]][]
}

const requested = async () => {
  const approvals = [{ name: 'Budget' }]
  const item = await make(CatalogItem, '/catalog/items', { name: 'Laptop', approvals })
  await everything().post(`/catalog/items/${item.id}/activate`)
  return make(CatalogRequest, '/catalog/requests', { itemId: item.id })
}

const kinds: Record<string, Kind> = {
  incident: {
    path: '/itsm/incidents',
    schema: Incident,
    make: () => make(Incident, '/itsm/incidents', { title: 'Slow' }),
    offered: [
      [[], []],
      [['itsm:approve'], []],
      [['itsm:write'], ['edit', 'assign', 'escalate', 'comment', 'start', 'hold', 'resolve', 'cancel']],
    ],
  },
  change: {
    path: '/itsm/changes',
    schema: Change,
    make: async () => {
      const draft = await make(Change, '/itsm/changes', { title: 'New disks', type: 'emergency', ...window })
      return make(Change, `/itsm/changes/${draft.id}/submit`, {})
    },
    offered: [
      [[], []],
      [['itsm:approve'], ['approve', 'reject']],
      [['itsm:write'], ['edit', 'cancel', 'hold']],
    ],
  },
  problem: {
    path: '/itsm/problems',
    schema: Problem,
    make: () => make(Problem, '/itsm/problems', { title: 'Disks fill up' }),
    offered: [
      [['itsm:approve'], []],
      [['itsm:write'], ['edit', 'assess', 'publish_workaround', 'mark_known_error', 'unmark_known_error']],
    ],
  },
  item: {
    path: '/cmdb/items',
    schema: ConfigurationItem,
    make: () => make(ConfigurationItem, '/cmdb/items', { name: 'Disk', class: 'server' }),
    offered: [
      [['itsm:write'], []],
      [['cmdb:write'], ['edit', 'relate', 'activate', 'retire', 'delete']],
    ],
  },
  article: {
    path: '/knowledge',
    schema: Article,
    make: async () => {
      const draft = await make(Article, '/knowledge', { title: 'Reset it', body: 'Press the button.' })
      await everything().post(`/knowledge/${draft.id}/submit`)
      return draft
    },
    offered: [[['knowledge:write'], ['approve', 'schedule', 'reject']]],
  },
  'item of the catalogue': {
    path: '/catalog/items',
    schema: CatalogItem,
    make: async () => {
      const { id } = await make(CatalogItem, '/catalog/items', { name: 'Laptop' })
      return make(CatalogItem, `/catalog/items/${id}/activate`, {})
    },
    offered: [
      [['catalog:request'], []],
      [['catalog:write'], ['edit', 'retire']],
    ],
  },
  request: {
    path: '/catalog/requests',
    schema: CatalogRequest,
    make: requested,
    offered: [
      [[], []],
      [['itsm:approve'], ['approve', 'reject']],
      [['catalog:request'], ['cancel']],
    ],
  },
}

describe.each(Object.entries(kinds))('the allowed actions of an %s', (_, { path, schema, make, offered }) => {
  it('depend on the permissions of the caller, now and as of a past instant, alone and in lists', async () => {
    const { id } = await make()
    const asOf = new Date().toISOString()
    for (const [permissions, actions] of offered) {
      const api = reader(...permissions)
      const shown = [
        (await api.get(`${path}/${id}`)).data(schema),
        (await api.get(`${path}/${id}?asOf=${asOf}`)).data(schema),
        ...(await api.get(path)).page(schema).items.filter((one) => one.id === id),
      ]
      expect(shown.map(({ allowedActions }) => [...allowedActions].sort())).toEqual(
        [0, 1, 2].map(() => [...actions].sort()),
      )
    }
  })
})

it('lists exactly the major-incident actions that its routes accept', async () => {
  const incident = await make(Incident, '/itsm/incidents', { title: 'Slow' })
  const whole = (await everything().get(`/itsm/incidents/${incident.id}`)).data(Incident)
  const writer = reader('itsm:write')
  const shown = (await writer.get(`/itsm/incidents/${incident.id}`)).data(Incident)
  expect([whole.allowedMajorActions, shown.allowedMajorActions]).toEqual([['propose'], ['propose']])
  await everything().post(`/itsm/incidents/${incident.id}/major/propose`, { reason: 'Many are hit.' })
  const proposed = (await writer.get(`/itsm/incidents/${incident.id}`)).data(Incident)
  expect(proposed.allowedMajorActions).toEqual([])
  const tried = await writer.post(`/itsm/incidents/${incident.id}/major/accept`, { reason: 'Yes.' })
  expect(tried.error().code).toBe('insufficient_scope')
  expect((await reader('itsm:approve').get(`/itsm/incidents/${incident.id}`)).data(Incident)).toMatchObject({
    allowedMajorActions: ['accept', 'reject'],
  })
})
