import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { type ChangedType, changedPermissions, natsNames } from '@opsplane/contracts'
import { connectNats, type NatsLink } from '@opsplane/nats'
import { createLogger } from '@opsplane/runtime'
import { startTcpProxy, type TcpProxy, testNatsUrl, waitFor } from '@opsplane/testing'
import { type Changes, createChanges } from './changes.js'
import type { ChangedFrame } from './gathered-changes.js'

const names = natsNames('changes-after-reconnects')
const tenant = { workspaceId: 'ws_1', environment: 'production' } as const
const log = createLogger({ service: 'test', level: 'silent' })
let proxy: TcpProxy
let links: NatsLink[]
let changes: Changes
let publisher: NatsLink
let subscriber: NatsLink

beforeEach(async () => {
  const url = new URL(testNatsUrl())
  proxy = await startTcpProxy(Number(url.port))
  publisher = connectNats({ url: testNatsUrl(), name: 'publisher', log })
  url.port = String(proxy.port)
  subscriber = connectNats({ url: url.href, name: 'subscriber', log })
  links = [publisher, subscriber]
  changes = createChanges({ link: subscriber, names })
})
afterEach(async () => {
  await changes.close()
  await Promise.all(links.map((link) => link.close()))
  await proxy.close()
})

test('change signals continue after a NATS outage, and report that some may have been missed', async () => {
  const frames: ChangedFrame[] = []
  const stop = changes.follow(tenant, (changed) => frames.push(changed))
  const signal = async (type: ChangedType, id: string) =>
    (await publisher.ready()).publish(names.changedSubject(tenant), JSON.stringify({ type, ids: [id] }))
  // A frame still contains ids if it includes signals gathered in the previous second.
  const hasAnyChanged = (type: ChangedType) =>
    frames.some((changed) => changed.type === type && changed.frame.includes('"isMore":true'))
  const isNamed = (id: string) => frames.some(({ frame }) => frame.includes(id))

  await waitFor(async () => {
    await signal('run', 'run_before')
    return isNamed('run_before')
  })
  for (let away = 1; away <= 2; away++) {
    proxy.cut()
    await waitFor(() => !subscriber.connected())
    await signal('delivery', `del_lost_${away}`)
    frames.length = 0
    proxy.mend()
    const types = Object.keys(changedPermissions) as ChangedType[]
    await waitFor(() => types.every(hasAnyChanged))
    await waitFor(async () => {
      await signal('execution', `exec_after_${away}`)
      return isNamed(`exec_after_${away}`)
    })
    expect(isNamed(`del_lost_${away}`)).toBe(false)
  }
  stop()
})
