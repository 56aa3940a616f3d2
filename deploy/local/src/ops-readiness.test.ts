import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { errorBody } from '@opsplane/contracts'
import { notReady } from '@opsplane/http'
import { serviceStates } from './ops-readiness.js'

const checks = { settings: 'not ready: database (cannot be reached)', itsm: 'up' }
const ready = {
  status: 'ready',
  checks: { settings: 'up', itsm: 'up' },
  warnings: ['Set TRUST_PROXY_CIDRS.'],
}

let answer: { status: number; body: string }
const server = createServer((_request, response) => response.writeHead(answer.status).end(answer.body))
let origin: string
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => void server.close())

test.each([
  ['ready', 200, { data: ready }, { checks: ready.checks, gateway: 'up', warnings: ready.warnings }],
  [
    'not ready',
    503,
    errorBody(notReady(checks, ['Advice.']), 'req_1'),
    {
      checks,
      gateway: 'not ready: settings (not ready: database (cannot be reached))',
      warnings: ['Advice.'],
    },
  ],
  ['of another version', 200, { data: {} }, { checks: {}, gateway: 'up', warnings: [] }],
  ['no gateway', 404, { error: 'none' }, { checks: {}, gateway: 'answers 404', warnings: [] }],
])('reports the state of a gateway that is %s', async (_what, status, body, expected) => {
  answer = { status, body: JSON.stringify(body) }
  expect(await serviceStates(origin)).toEqual(expected)
})

test.each(['<html>', ''])('reports the status of a response that is not JSON: %p', async (body) => {
  answer = { status: 502, body }
  expect(await serviceStates(origin)).toEqual({ checks: {}, gateway: 'answers 502', warnings: [] })
})

test('reports an unreachable gateway without throwing', async () => {
  expect((await serviceStates('http://127.0.0.1:1')).gateway).toBe('does not answer at http://127.0.0.1:1')
})
