import type { IncomingMessage } from 'node:http'
import { afterEach, describe, expect, test } from '@jest/globals'
import { createLogger } from '@opsplane/runtime'
import { call, startPlatform, type TestPlatform } from './fixture/platform.js'
import { createUnknownProxies } from './unknown-proxies.js'

function given(trustedCidrs: string[] = []) {
  let now = 0
  const lines: { peer?: string; msg: string }[] = []
  const log = createLogger({
    service: 'gateway',
    level: 'warn',
    destination: { write: (line) => void lines.push(JSON.parse(line)) },
  })
  const proxies = createUnknownProxies({ trustedCidrs, monotonicMs: () => now, log })
  const from = (remoteAddress: string, forwardedFor?: string) =>
    proxies.notice({
      socket: { remoteAddress },
      headers: forwardedFor === undefined ? {} : { 'x-forwarded-for': forwardedFor },
    } as unknown as IncomingMessage)
  return {
    proxies,
    lines,
    from,
    pass: (ms: number) => {
      now += ms
    },
  }
}

describe('a peer that sends X-Forwarded-For', () => {
  test.each([
    '10.2.3.4',
    '172.18.0.1',
    '192.168.1.1',
    '127.0.0.1',
    '100.64.0.9',
    '::1',
    'fd00::7',
    '::ffff:10.2.3.4',
  ])('from an internal address causes a warning: %s', (address) => {
    const { proxies, lines, from } = given()
    from(address, '203.0.113.7')
    expect(lines).toMatchObject([{ peer: address, msg: expect.stringContaining('Set TRUST_PROXY_CIDRS') }])
    expect(proxies.warnings()).toEqual([expect.stringContaining('Set TRUST_PROXY_CIDRS')])
  })

  test.each([
    ['is trusted', ['10.0.0.0/8'], '10.2.3.4', '203.0.113.7'],
    ['is outside, where any client may send it', [], '203.0.113.1', '203.0.113.7'],
    ['sends none', [], '10.2.3.4', undefined],
  ])('causes no warning if it %s', (_what, trusted, address, forwardedFor) => {
    const { proxies, lines, from } = given(trusted)
    from(address, forwardedFor)
    expect([lines, proxies.warnings()]).toEqual([[], []])
  })

  test('is logged once an hour, and its warning ends an hour after the last request', () => {
    const { proxies, lines, from, pass } = given()
    for (let n = 0; n < 100; n++) from('10.2.3.4', '203.0.113.7')
    expect(lines).toHaveLength(1)
    pass(3_600_000)
    expect(proxies.warnings()).toEqual([])
    from('10.2.3.4', '203.0.113.7')
    expect(lines).toHaveLength(2)
    expect(proxies.warnings()).toHaveLength(1)
  })
})

describe('the readiness of the gateway', () => {
  let platform: TestPlatform
  afterEach(() => platform.stop())

  test.each([
    [[], 1],
    [['127.0.0.0/8'], 0],
  ])(
    'with TRUST_PROXY_CIDRS %j contains %i warnings about an unknown proxy',
    async (trustProxyCidrs, warnings) => {
      platform = await startPlatform({ trustProxyCidrs })
      await call(`${platform.url}/api/v1/nothing`, { headers: { 'X-Forwarded-For': '203.0.113.7' } })
      const { body } = await call(`${platform.url}/readyz`)
      expect(body.data?.warnings).toHaveLength(warnings)
    },
  )
})
