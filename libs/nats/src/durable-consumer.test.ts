import { expect, test } from '@jest/globals'
import { createLogger } from '@opsplane/runtime'
import { freePort } from '@opsplane/runtime/server-process'
import { connectNats, durableConsumer } from './index.js'

test('a service cannot run a durable consumer that the registry does not list for it', async () => {
  const log = createLogger({ service: 'test', level: 'silent' })
  const identity = {
    durables: ['itsm-incident-timers'],
    signatures: { sign: () => '', check: () => undefined },
  }
  const url = `nats://127.0.0.1:${await freePort()}`
  const link = connectNats({ url, name: 'test', log, identity })
  const start = (durable: string) =>
    durableConsumer({ link, stream: 'NONE', durable, log, read: () => null, apply: async () => undefined })
  expect(() => start('settings-audit-log')).toThrow('registry')
  await start('itsm-incident-timers').close()
  await link.close()
})

test('a consumer whose server never started closes immediately', async () => {
  const log = createLogger({ service: 'test', level: 'silent' })
  const link = connectNats({ url: `nats://127.0.0.1:${await freePort()}`, name: 'test', log })
  const consumer = durableConsumer({
    link,
    stream: 'NONE',
    durable: 'none',
    log,
    read: () => null,
    apply: async () => undefined,
  })
  await expect(consumer.close()).resolves.toBeUndefined()
  await expect(link.close()).resolves.toBeUndefined()
})
