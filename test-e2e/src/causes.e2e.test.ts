import { beforeAll, expect, test } from '@jest/globals'
import { waitFor } from '@opsplane/testing'
import { type Api, apiClient } from './platform.js'
import { joinPlatform, type SharedPlatform } from './shared/platform.js'

let platform: SharedPlatform
let api: Api
let origin: string

beforeAll(async () => {
  platform = await joinPlatform()
  api = apiClient(platform.info)
  origin = new URL(platform.info.baseUrl).origin
})

interface Data<T> {
  data: T
}

const made = async (path: string, body: object) => {
  const answer = await api<Data<{ id: string }>>('POST', path, { body })
  expect(answer.status).toBe(201)
  return answer.body.data.id
}

const incident = {
  ...{ id: 'open', type: 'api', operation: 'createIncident' },
  body: { title: 'Again' },
}

/** Ways in which a workflow can call its own hook. */
const loops: [name: string, steps: (hook: string) => Promise<object[]>][] = [
  [
    'the webhook of an event that it causes',
    async (url) => {
      await made('/webhooks', { name: 'Loop', url, events: ['incident.created'], retries: 0 })
      return [incident]
    },
  ],
  ['a step of it', async (url) => [{ id: 'call', type: 'http', method: 'POST', url, body: {} }]],
  [
    'a connector',
    async (url) => {
      const connector = await made('/connectors', { name: 'Loop', kind: 'http', config: { baseUrl: origin } })
      const input = { path: new URL(url).pathname, body: {} }
      return [{ id: 'call', type: 'connector', connector, action: 'post', input }]
    },
  ],
]

test.each(loops)(
  'a workflow whose hook is called by %s stops at the maximum depth, and records the reason',
  async (name, stepsOf) => {
    const trigger = { type: 'webhook' }
    const id = await made('/workflows', { name, definition: { trigger, steps: [incident] } })
    const { path } = (await api<Data<{ path: string }>>('GET', `/workflows/${id}/hook`)).body.data
    const definition = { trigger, steps: await stepsOf(`${origin}${path}`) }
    expect((await api('PATCH', `/workflows/${id}`, { body: { definition } })).status).toBe(200)
    expect((await api('POST', `/workflows/${id}/publish`, { body: { activate: true } })).status).toBe(200)
    expect((await fetch(`${origin}${path}`, { method: 'POST' })).status).toBe(202)
    const skipped = await waitFor(async () => {
      const found = await api<Data<object[]>>('GET', `/workflows/${id}/skipped-triggers`)
      return found.body.data.length > 0 && found.body.data
    })
    expect(skipped).toMatchObject([{ triggerType: 'webhook', reason: 'too_deep' }])
    // Ten levels below the first run.
    const runs = await api<Data<object[]>>('GET', `/workflows/${id}/runs?limit=50`)
    expect(runs.body.data).toHaveLength(11)
  },
)
