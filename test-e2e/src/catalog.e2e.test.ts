import { beforeAll, expect, test } from '@jest/globals'
import { waitFor } from '@opsplane/testing'
import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import { type Api, apiClient, typedClient } from './platform.js'
import { joinPlatform, type SharedPlatform } from './shared/platform.js'

interface Entry {
  type: string
  schema: Record<string, unknown>
}
interface Resource {
  data: { id: string }
}

let platform: SharedPlatform
let api: Api
beforeAll(async () => {
  platform = await joinPlatform()
  api = apiClient(platform.info)
})

const withoutWorkspace = { headers: { 'x-workspace': undefined } }

test('the event catalog requires a login, but no workspace', async () => {
  for (const path of ['/events/catalog', '/events/catalog/incident.created', '/events/asyncapi.json']) {
    expect([path, (await api('GET', path, withoutWorkspace)).status]).toEqual([path, 200])
    expect((await api('GET', path, { headers: { authorization: undefined } })).status).toBe(401)
  }
  expect((await api('GET', '/events/catalog/incident.beamed_up', withoutWorkspace)).status).toBe(404)
})

test('the schemas of the catalog accept the events that the services send', async () => {
  const { body } = await api<Resource>('POST', '/itsm/incidents', { body: { title: 'Disk full' } })
  const path = `/itsm/incidents/${body.data.id}`
  await api('POST', `${path}/escalate`, { body: { severity: 'critical', reason: 'It spreads' } })
  const me = (await api<{ data: { user: { id: string } } }>('GET', '/auth/me')).body.data.user
  await api('PATCH', path, { body: { assigneeId: me.id, tags: ['disk'] } })
  await api('POST', `${path}/comments`, { body: { body: 'Freed some', visibility: 'internal' } })
  await api('PATCH', path, { body: { status: 'on_hold', holdReason: 'awaiting_vendor' } })
  await api('PATCH', path, { body: { status: 'in_progress' } })
  await api('POST', `${path}/resolve`, { body: { resolutionCode: 'fixed', resolutionNotes: 'Cleaned up' } })
  await api('POST', `${path}/reopen`, { body: { reason: 'Full again' } })
  await api('POST', `${path}/resolve`, { body: { resolutionCode: 'fixed', resolutionNotes: 'Larger disk' } })
  await api('POST', `${path}/close`, { body: {} })
  await api('POST', '/auth/tokens', {
    body: { name: 'reader', scopes: ['itsm:read'], environments: ['staging'] },
  })
  await api('POST', '/secrets', { body: { name: 'disk_key', value: 'hidden', hosts: ['*'] } })
  const events = async () => (await api<{ data: { type: string }[] }>('GET', '/audit?limit=200')).body.data
  const wanted = [
    'incident.assigned',
    'incident.closed',
    'incident.comment_added',
    'incident.created',
    'incident.escalated',
    'incident.reopened',
    'incident.resolved',
    'incident.updated',
    'secret.created',
    'token.created',
  ]
  await waitFor(async () => {
    const seen = new Set((await events()).map(({ type }) => type))
    return wanted.every((type) => seen.has(type))
  })

  const ajv = new Ajv2020({ allErrors: true, allowUnionTypes: true })
  formats.default(ajv)
  const entries: Entry[] = []
  for await (const entry of typedClient(platform.info).items('/events/catalog', {}))
    entries.push(entry as Entry)
  const sent = await events()
  const types = new Set(sent.map(({ type }) => type))
  const ofThese = entries.filter(({ type }) => types.has(type))
  const validators = new Map(ofThese.map(({ type, schema }) => [type, ajv.compile(schema)]))
  for (const event of sent) {
    const validate = validators.get(event.type)
    expect([event.type, validate?.(event), validate?.errors ?? []]).toEqual([event.type, true, []])
  }
})
