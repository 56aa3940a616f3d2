import { expect, test } from '@jest/globals'
import type { DeploymentContents } from '@opsplane/contracts'
import { createLogger } from '@opsplane/runtime'
import { createSourceCompiler } from '../compiled.js'
import type { DeploymentUse } from '../deployment-use.js'
import { createUse } from './use.js'

const contents: DeploymentContents = {
  pages: [],
  sources: [
    {
      ...{ id: 'src_01JZ8Q4D3N5W7X9Y2B4C6D8E0F', name: 'assets', params: {}, result: null },
      binding: { kind: 'table', table: 'assets', operations: ['list'], writable: [], limit: 50 },
    },
  ],
}

/** A page's request whose client disconnects while its parts are being computed. */
async function leave(failure: (signal: AbortSignal) => unknown) {
  const lines: string[] = []
  const client = new AbortController()
  const use = createUse({
    call: () => Promise.reject(new Error('not called')),
    expressions: {
      evaluate: async ({ signal }) => {
        client.abort()
        throw failure(signal ?? client.signal)
      },
    },
  })
  const running = {
    deployment: { id: 'dep_1' },
    sources: createSourceCompiler()('dep_1', contents, []),
    tenant: { workspaceId: 'ws_1', environment: 'production' },
    ...{ user: null, embed: null },
  } as unknown as DeploymentUse
  const log = createLogger({
    service: 'apps',
    level: 'debug',
    destination: { write: (line) => void lines.push(line) },
  })
  const request = { requests: [{ key: 'a', source: 'assets', params: {} }] }
  const answer = use.data(running, request, { key: 'k', signal: client.signal, log })
  return { answer, client, lines }
}

test.each([
  ['with the reason of the signal', (signal: AbortSignal) => signal.reason],
  ['with an error made of it', () => new Error('cut off')],
])('logs no data source failure when the client disconnects: %s', async (_, failure) => {
  const { answer, client, lines } = await leave(failure)
  await expect(answer).rejects.toBe(client.signal.reason)
  expect(lines).toEqual([])
})
