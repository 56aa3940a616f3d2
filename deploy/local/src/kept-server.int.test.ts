import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { type EmbeddedNats, startEmbeddedNats } from '@opsplane/nats/embedded'
import { createLogger } from '@opsplane/runtime'
import { waitFor } from '@opsplane/testing'
import { keepServer } from './kept-server.js'

let storeDir: string
beforeEach(() => {
  storeDir = mkdtempSync(join(tmpdir(), 'opsplane-kept-'))
})
afterEach(() => rmSync(storeDir, { recursive: true, force: true }))

/** A real nats-server that is kept running, with every server that was started and every message that was reported. */
async function kept({ failures = 0, beforeRestart = async () => {} } = {}) {
  const started: EmbeddedNats[] = []
  const reported: string[] = []
  let failuresLeft = failures
  const server = await keepServer({
    name: 'NATS',
    log: createLogger({ service: 'kept', level: 'silent' }),
    tell: (text) => reported.push(text),
    start: async (port) => {
      if (started.length > 0 && failuresLeft-- > 0) throw new Error('the port is taken')
      if (started.length > 0) await beforeRestart()
      const one = await startEmbeddedNats({ storeDir, port })
      started.push(one)
      return one
    },
  })
  const killLast = () => process.kill(started.at(-1)?.pid ?? 0, 'SIGKILL')
  return { server, started, reported, killLast }
}
const runsAgain = (reported: string[], times: number) =>
  waitFor(() => reported.filter((text) => text === 'NATS runs again.').length === times)

test('a killed server is restarted at the same URL every time', async () => {
  const { server, started, reported, killLast } = await kept()
  killLast()
  await runsAgain(reported, 1)
  killLast()
  await runsAgain(reported, 2)
  expect(started.map(({ url }) => url)).toEqual([server.url, server.url, server.url])
  expect(reported[0]).toContain('killed by SIGKILL')
  await server.stop()
  expect(await started.at(-1)?.exited).not.toContain('SIGKILL')
  expect(started).toHaveLength(3)
})

test('a failed restart is retried until it succeeds', async () => {
  const { server, reported, killLast } = await kept({ failures: 2 })
  killLast()
  await runsAgain(reported, 1)
  expect(reported).toHaveLength(3)
  await server.stop()
})

test('no server is started after a stop, even if restarts are failing at that time', async () => {
  const { server, started, reported, killLast } = await kept({ failures: Number.POSITIVE_INFINITY })
  killLast()
  await waitFor(() => reported.length === 2)
  await server.stop()
  expect(started).toHaveLength(1)
})

test('a server that is starting during the stop is stopped as well', async () => {
  let stopped: Promise<void> | undefined
  const held = await kept({
    beforeRestart: async () => {
      stopped = held.server.stop()
    },
  })
  held.killLast()
  await waitFor(() => stopped !== undefined)
  await stopped
  expect(held.started).toHaveLength(2)
  expect(await held.started.at(-1)?.exited).not.toContain('SIGKILL')
  expect(held.reported).toHaveLength(1)
})
