import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { jetstream } from '@nats-io/jetstream'
import { eventExample, natsNames, newId } from '@opsplane/contracts'
import { connectNats, ensureStreams, type NatsLink, subscribeEvents } from '@opsplane/nats'
import { type EmbeddedNats, startEmbeddedNats } from '@opsplane/nats/embedded'
import { createLogger } from '@opsplane/runtime'
import { waitFor } from '@opsplane/testing'
import { buildNatsUrls, natsAuthorization } from './nats-users.js'
import { addSubscriber, natsConfig } from './ops-subscribers.js'
import { findTarget } from './ops-target.js'
import { openState } from './state.js'

const log = createLogger({ service: 'test', level: 'silent' })
const names = natsNames()
const folder = mkdtempSync(join(tmpdir(), 'subscribers-'))
const state = openState(folder)
let server: EmbeddedNats
let operatorUrl: string
let itsm: NatsLink

beforeAll(async () => {
  const { natsPasswords } = state.secrets()
  server = await startEmbeddedNats({
    ...{ storeDir: state.natsDir, synced: false, authorization: () => natsAuthorization(state.secrets()) },
  })
  const { natsUrl, natsUrls } = buildNatsUrls(server.url, natsPasswords)
  operatorUrl = natsUrl
  state.writeInfo({
    ...{ origin: '', baseUrl: '', workspace: '', email: '', password: '', apiKey: '', postgresUrl: '' },
    ...{ natsUrl, pid: process.pid },
  })
  itsm = connectNats({ url: natsUrls.itsm, name: 'itsm', log })
  await ensureStreams(itsm, names)
})
afterAll(async () => {
  await itsm?.close()
  await server?.stop()
  rmSync(folder, { recursive: true, force: true })
})

async function publish(workspaceId: string, type: 'incident.created' | 'incident.resolved') {
  const event = { ...eventExample(type), id: newId('event'), workspaceId }
  await jetstream(await itsm.ready(), { timeout: 60_000 }).publish(
    names.eventSubject(event),
    JSON.stringify(event),
  )
  return event.id
}

const acme = {
  name: 'acme-pager',
  tenant: { workspaceId: 'ws_acme' },
  patterns: ['incident.created'],
  start: 'oldest' as const,
}

test('a new subscriber receives only its events, and services stay connected while it is added', async () => {
  const lost: boolean[] = []
  itsm.onChange(() => lost.push(itsm.connected()))
  const target = findTarget({ home: folder }, {})
  const added = await addSubscriber({ target, home: folder }, acme)
  expect(added).toMatchObject({ durable: 'sub-acme-pager', config: null })
  const received: string[] = []
  const subscription = subscribeEvents({
    url: added.url,
    durable: added.durable,
    patterns: ['incident.created'],
    tenant: acme.tenant,
    log,
    handle: async ({ id }) => void received.push(id),
  })
  await publish('ws_other', 'incident.created')
  await publish('ws_acme', 'incident.resolved')
  const own = await publish('ws_acme', 'incident.created')
  await waitFor(() => received.includes(own))
  expect(received).toEqual([own])
  await subscription.close()
  expect(lost).toEqual([])

  await expect(addSubscriber({ target, home: folder }, acme)).rejects.toMatchObject({ reason: 'refused' })
  // A restarted server still has the user.
  expect(natsAuthorization(state.secrets())).toContain('sub_acme-pager')
})

test('for an external NATS server, the entries of the subscriber and of the platform users are printed', async () => {
  const target = findTarget({ home: 'nowhere', natsUrl: operatorUrl }, {})
  const added = await addSubscriber({ target, home: 'nowhere' }, { ...acme, name: 'elsewhere' })
  const { username, password } = new URL(added.url)
  expect(username).toBe('sub_elsewhere')
  expect(added.config).toContain(`{ user: "sub_elsewhere", password: "${password}"`)
  expect(added.config).not.toContain('operator')
  const config = natsConfig(names)
  for (const user of ['settings', 'itsm', 'dispatcher', 'gateway', 'operator'])
    expect(config).toContain(`"${user}"`)
  expect(natsConfig(names)).not.toBe(config)
})
