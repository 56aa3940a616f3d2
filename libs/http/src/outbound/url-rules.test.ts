import { describe, expect, it } from '@jest/globals'
import { ApiError } from '@opsplane/contracts'
import { createAddressPolicy } from './addresses.js'
import { checkUrl } from './url-rules.js'

const strict = { policy: createAddressPolicy([]), allowHttp: false }

const refused: [string, string][] = [
  ['example.com/hook', 'invalid_url'],
  ['https://', 'invalid_url'],
  ['http://example.com', 'https_required'],
  ['ftp://example.com', 'https_required'],
  ['file:///etc/passwd', 'https_required'],
  ['javascript:alert(1)', 'https_required'],
  ['https://user:pass@example.com', 'credentials_in_url'],
  ['https://user@example.com', 'credentials_in_url'],
  ['https://example.com:22', 'port_not_allowed'],
  ['https://example.com:6000', 'port_not_allowed'],
  ['https://example.com:0', 'port_not_allowed'],
  ['https://example.com:25', 'port_not_allowed'],
  ['https://example.com:1023', 'port_not_allowed'],
  ['https://example.com:65536', 'invalid_url'],
  ['https://:pass@example.com', 'credentials_in_url'],
  ['https://example.com@127.0.0.1', 'credentials_in_url'],
  ['https://[fe80::1%25eth0]', 'invalid_url'],
  ['https://1.2.3.4.5', 'invalid_url'],
  ['https://256.0.0.1', 'invalid_url'],
  ['https://exa mple.com', 'invalid_url'],
  ['https://127.0.0.1', 'blocked_address'],
  ['https:127.0.0.1', 'blocked_address'],
  ['https:\\\\127.0.0.1', 'blocked_address'],
  [' https://127.0.0.1\n', 'blocked_address'],
  ['https://127.0.\t0.1', 'blocked_address'],
  ['https://%31%32%37.0.0.1', 'blocked_address'],
  ['https://127\u30020\uff0e0\uff611', 'blocked_address'],
  ['https://0x7f000001', 'blocked_address'],
  ['https://017700000001', 'blocked_address'],
  ['https://0x7f.0.0x0.01', 'blocked_address'],
  ['https://127.0.0.1#@example.com', 'blocked_address'],
  ['https://127.0.0.1\\@example.com', 'blocked_address'],
  ['https://[::ffff:7f00:1]', 'blocked_address'],
  ['https://[::ffff:a9fe:a9fe]', 'blocked_address'],
  ['https://[::127.0.0.1]', 'blocked_address'],
  ['https://[::]', 'blocked_address'],
  ['https://[fd00:ec2::254]', 'blocked_address'],
  ['https://[2002:7f00:1::]', 'blocked_address'],
  ['https://l\u24decalhost', 'blocked_address'],
  ['https://%6cocalhost', 'blocked_address'],
  ['https://127.0.0.1.', 'blocked_address'],
  ['https://127.1', 'blocked_address'],
  ['https://0x7f.1', 'blocked_address'],
  ['https://0177.0.0.1', 'blocked_address'],
  ['https://2130706433', 'blocked_address'],
  ['https://①②⑦.0.0.1', 'blocked_address'],
  ['https://0', 'blocked_address'],
  ['https://[::1]', 'blocked_address'],
  ['https://[::ffff:127.0.0.1]', 'blocked_address'],
  ['https://[0:0:0:0:0:ffff:7f00:1]', 'blocked_address'],
  ['https://[64:ff9b::7f00:1]', 'blocked_address'],
  ['https://169.254.169.254/latest/meta-data', 'blocked_address'],
  ['https://localhost', 'blocked_address'],
  ['https://LOCALHOST.', 'blocked_address'],
  ['https://a.localhost', 'blocked_address'],
]

describe('URL rules', () => {
  it.each(refused)('refuse %s: %s', (url, code) => {
    const check = () => checkUrl(url, strict, '/target')
    expect(check).toThrow(ApiError)
    expect(check).toThrow(
      expect.objectContaining({
        code: 'validation_failed',
        details: [expect.objectContaining({ code, path: '/target' })],
      }),
    )
  })

  it.each([
    'https://example.com',
    'https://example.com:8443/a?b=c',
    'https://8.8.8.8',
    'https://[2606:4700::1]',
  ])('allow %s', (url) => {
    expect(checkUrl(url, strict).href).toBe(new URL(url).href)
  })

  it("follow the allowed blocks and plain http of the operator's configuration", () => {
    const local = { policy: createAddressPolicy(['127.0.0.0/8']), allowHttp: true }
    expect(checkUrl('http://localhost:9000', local).port).toBe('9000')
    expect(checkUrl('http://0x7f.1', local).hostname).toBe('127.0.0.1')
    expect(() => checkUrl('http://10.0.0.1', local)).toThrow(ApiError)
  })

  it('can restrict plain http to loopback hosts', () => {
    const local = {
      policy: createAddressPolicy(['127.0.0.0/8', '10.0.0.0/8']),
      allowHttp: 'loopback' as const,
    }
    expect(checkUrl('http://localhost:9000', local).port).toBe('9000')
    expect(checkUrl('http://127.0.0.1:9000', local).port).toBe('9000')
    expect(checkUrl('https://10.0.0.1', local).hostname).toBe('10.0.0.1')
    expect(() => checkUrl('http://10.0.0.1', local)).toThrow(ApiError)
    expect(() => checkUrl('http://example.com', local)).toThrow(ApiError)
  })
})
