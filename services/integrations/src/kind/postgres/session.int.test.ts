import { expect, test } from '@jest/globals'
import { localOutbound } from '../call.fixture.js'
import { openSession } from './session.js'

const { hostname, port, username, password, pathname } = new URL(process.env.TEST_DATABASE_URL ?? '')
const target = {
  ...{ host: hostname, port: Number(port), database: pathname.slice(1), tls: 'disable' as const },
  ...{ user: decodeURIComponent(username), password: decodeURIComponent(password) },
}

test('a session closes immediately, even when its server does not respond', async () => {
  const outbound = localOutbound()
  const signal = new AbortController().signal
  const session = await openSession(outbound, target, { timeoutMs: 10_000, signal })
  const asked = session.sql.unsafe('select pg_sleep(600)').catch((error: unknown) => error)
  await session.close()
  expect(await asked).toMatchObject({ code: 'CONNECTION_DESTROYED' })
  expect(session.isOpen()).toBe(false)
  await outbound.close()
})
