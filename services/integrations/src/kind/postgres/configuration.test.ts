import { afterAll, describe, expect, it } from '@jest/globals'
import { localOutbound } from '../call.fixture.js'
import type { Kind } from '../kind.js'
import { postgresKind } from '../postgres.js'

const config = {
  ...{ host: '127.0.0.1', port: 5_432, user: 'reader', tls: 'disable' },
  ...{ database: 'items', password: '{{secrets.database}}' },
}
const closers: (() => unknown)[] = []
afterAll(async () => {
  for (const close of closers.reverse()) await close()
})

function kindWith(options: Parameters<typeof localOutbound>[0] = {}): Kind {
  const outbound = localOutbound(options)
  const kind = postgresKind(outbound)
  closers.push(
    () => outbound.close(),
    () => kind.close?.(),
  )
  return kind
}
const kind = kindWith()

describe('the configuration of a Postgres connector', () => {
  it.each([
    [{ password: 'hunter2' }, 'password'],
    [{ user: 'a\0options\0-c x=y' }, 'user'],
    [{ database: 'a\0b' }, 'database'],
    [{ tls: 'prefer' }, 'tls'],
    [{ ca: 'nothing' }, 'ca'],
    [{ port: 0 }, 'port'],
  ])('rejects %j', (change, path) => {
    const parsed = kind.config.safeParse({ ...config, ...change })
    expect(parsed.error?.issues.map((issue) => issue.path[0])).toEqual([path])
  })

  it('rejects hosts and ports that must never be called', () => {
    for (const host of ['127.1', 'localhost', '169.254.169.254'])
      expect(() => kindWith({ allowedCidrs: [] }).check(kind.config.parse({ ...config, host }))).toThrow(
        'special address',
      )
    expect(() => kind.check(kind.config.parse({ ...config, port: 80 }))).toThrow('Port 80')
  })

  it('verifies certificates by default', () => {
    const { tls: _, ...rest } = config
    expect(kind.config.parse(rest)).toMatchObject({ tls: 'verify-full', readOnly: false, port: config.port })
  })
})
