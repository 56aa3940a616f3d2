import { beforeAll, describe, expect, test } from '@jest/globals'
import { type Api, apiClient } from './platform.js'
import { joinPlatform } from './shared/platform.js'

/**
 * The shared platform may call loopback addresses except for this one, which its configuration denies to each
 * service.
 */
const denied = 'https://127.0.0.9:9443/'
const allowed = 'https://127.0.0.8:9443/'

interface Data<T> {
  data: T
}
interface Failure {
  code: string
  details?: { code: string }[]
}

let api: Api
beforeAll(async () => {
  const { info } = await joinPlatform()
  api = apiClient(info)
  const source = `import { artifact } from '@opsplane/sdk'
    export default artifact(({ url }: { url: string }, host) =>
      host.http({ url }).then(() => 'answered', (error: { code?: string }) => error.code ?? 'unknown'))`
  const files = { 'src/call.ts': source }
  const permissions = { http: ['*'] }
  const artifacts = [{ slug: 'calls', kind: 'workflow_action', source: 'src/call.ts', permissions }]
  const manifest = { format: 'opsplane.pack/1', name: 'calls', version: '1.0.0', artifacts }
  const installed = await api('POST', '/sdk/packs/install', {
    body: { manifest, files, grant: { http: ['*'] } },
  })
  expect(installed.status).toBe(201)
})

let made = 0
const refusalOf = async (path: string, body: object) => {
  const answer = await api<{ error?: Failure }>('POST', path, { body: { name: `n${++made}`, ...body } })
  return answer.body.error?.details?.[0]?.code
}
/** The URL comes from the input: one written in the definition would be rejected on publish. */
async function failedRun(url: string) {
  const definition = { steps: [{ id: 'call', type: 'http', method: 'GET', url: '{{ input.url }}' }] }
  const { body } = await api<Data<{ id: string }>>('POST', '/workflows', {
    body: { name: `n${++made}`, definition },
  })
  await api('POST', `/workflows/${body.data.id}/publish`, { body: {} })
  const run = await api<Data<{ error: Failure }>>('POST', `/workflows/${body.data.id}/trigger?wait=20`, {
    body: { input: { url } },
  })
  return run.body.data.error.code
}
async function failedCall(url: string) {
  const { body } = await api<Data<{ output: string }>>('POST', '/sdk/artifacts/calls/invoke', {
    body: { input: { url } },
  })
  return body.data.output
}

describe('addresses denied by the operator are not called by', () => {
  test.each<[string, (url: string) => Promise<string | undefined>, string, string | undefined]>([
    [
      'webhooks',
      (url) => refusalOf('/webhooks', { url, events: ['incident.created'] }),
      'blocked_address',
      undefined,
    ],
    [
      'connectors',
      (baseUrl) => refusalOf('/connectors', { kind: 'http', config: { baseUrl } }),
      'blocked_address',
      undefined,
    ],
    ['workflows', failedRun, 'blocked_address', 'upstream_error'],
    ['artifacts', failedCall, 'blocked_address', 'upstream_error'],
  ])('%s', async (_what, call, refused, otherwise) => {
    expect([await call(denied), await call(allowed)]).toEqual([refused, otherwise])
  })
})
