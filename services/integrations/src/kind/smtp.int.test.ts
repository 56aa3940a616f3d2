import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { type SmtpReceiver, type SmtpReceiverOptions, startSmtpReceiver } from '@opsplane/testing'
import { generate } from 'selfsigned'
import { buildCall, deadline, localOutbound, perform } from './call.fixture.js'
import type { Call, Kind } from './kind.js'
import { smtpKind } from './smtp.js'

let key: string
let cert: string
let other: string
beforeAll(async () => {
  const extensions = [
    { name: 'subjectAltName' as const, altNames: [{ type: 2 as const, value: 'mail.example' }] },
  ]
  const make = () => generate([{ name: 'commonName', value: 'mail.example' }], { extensions })
  ;({ private: key, cert } = await make())
  other = (await make()).cert
})

const closers: (() => unknown)[] = []
let kind: Kind
beforeEach(() => {
  const outbound = localOutbound({ resolve: async () => [{ address: '127.0.0.1', family: 4 }] })
  closers.push(() => outbound.close())
  kind = smtpKind(outbound)
})
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

async function receiver(options: SmtpReceiverOptions = {}): Promise<SmtpReceiver & { config: object }> {
  const started = await startSmtpReceiver(undefined, { key, cert, ...options })
  closers.push(() => started.stop())
  const security = options.security ?? 'none'
  const config = {
    host: 'mail.example',
    port: Number(new URL(started.url).port),
    security,
    from: 'Ops <ops@example.com>',
  }
  return { ...started, config: security === 'none' ? config : { ...config, ca: cert } }
}

const mail = { to: 'Ada <ada@example.com>', subject: 'A subject', text: 'First line\n\nLast line\n' }
const send = (config: object, input: object = mail, given: Partial<Call> & { secret?: string } = {}) =>
  perform(kind, 'send', buildCall(kind, config, given), input)
const login = { user: 'ops', password: '{{secrets.mail}}' }

describe('a mail', () => {
  it('has text, attachments, headers and a Message-ID that is stable for an idempotency key', async () => {
    const { config, mails } = await receiver()
    const input = {
      ...mail,
      ...{
        html: '<p>Hello</p>',
        cc: ['bob@example.com'],
        bcc: 'eve@example.com',
        replyTo: 'desk@example.com',
      },
      headers: { 'X-Ticket': 'INC-1' },
      attachments: [
        { filename: 'a.csv', contentType: 'text/csv', content: 'a,b' },
        { filename: 'b.bin', content: 'AAEC', encoding: 'base64' },
      ],
    }
    const sent = (await send(config, input)) as { messageId: string }
    expect(sent).toMatchObject({
      accepted: ['ada@example.com', 'bob@example.com', 'eve@example.com'],
      rejected: [],
      response: expect.stringContaining('250'),
    })
    const [received] = mails
    expect(received?.recipients).toEqual(['ada@example.com', 'bob@example.com', 'eve@example.com'])
    expect(Object.fromEntries(received?.headers ?? [])).toMatchObject({
      ...{ from: 'Ops <ops@example.com>', to: 'Ada <ada@example.com>', cc: 'bob@example.com' },
      ...{
        'reply-to': 'desk@example.com',
        'x-ticket': 'INC-1',
        subject: 'A subject',
        'message-id': sent.messageId,
      },
    })
    expect(received?.headers.has('bcc')).toBe(false)
    for (const part of ['First line', '<p>Hello</p>', 'text/csv; name=a.csv', 'filename=b.bin', 'AAEC'])
      expect(received?.raw).toContain(part)

    const again = await send(config, mail, { idempotencyKey: 'key-1' })
    expect(again).toMatchObject({ messageId: sent.messageId })
    expect(await send(config, mail, { idempotencyKey: 'key-2' })).not.toMatchObject({
      messageId: sent.messageId,
    })
  })

  it('gets no additional header, recipient or SMTP command from its content', async () => {
    const { config, mails } = await receiver()
    const evil = 'x\r\nBcc: eve@example.com\r\n\r\n.\r\nMAIL FROM:<eve@example.com>\u2028y'
    await send(config, {
      ...mail,
      subject: evil,
      headers: { 'X-Note': evil },
      text: `${evil}\r\n.\r\nQUIT\r\n`,
    })
    expect(mails).toHaveLength(1)
    const [received] = mails
    expect(received?.recipients).toEqual(['ada@example.com'])
    expect(received?.headers.has('bcc')).toBe(false)
    expect(received?.headers.get('x-note')).toContain('x Bcc: eve@example.com . MAIL FROM')
    expect(received?.text).toContain('QUIT')
  })

  it.each([
    [{ to: 'ada@example.com\r\nBcc: eve@example.com' }, '/input/to'],
    [{ to: ['Ada\r\nBcc: eve@example.com <ada@example.com>'] }, '/input/to'],
    [{ to: [] }, '/input/to'],
    [{ cc: Array.from({ length: 100 }, (_, n) => `a${n}@example.com`) }, '/input/to'],
    [{ text: undefined }, '/input/text'],
    [{ headers: { Bcc: 'eve@example.com' } }, '/input/headers/Bcc'],
    [{ headers: { 'X\r\nBcc': 'eve@example.com' } }, '/input/headers'],
    [{ headers: { 'Content-Type': 'text/html' } }, '/input/headers/Content-Type'],
    [{ attachments: [{ filename: 'a\r\nb', content: '' }] }, '/input/attachments/0/filename'],
    [{ attachments: [{ filename: 'a', content: 'x'.repeat(1_048_577) }] }, '/input/attachments'],
    [{ attachments: [{ path: '/etc/passwd', filename: 'a', content: '' }] }, '/input/attachments/0'],
  ])('is rejected with %j', async (change, path) => {
    const { config, mails } = await receiver()
    const refused = Promise.resolve().then(() => send(config, { ...mail, ...change }))
    await expect(refused).rejects.toMatchObject({
      code: 'validation_failed',
      details: [expect.objectContaining({ path: expect.stringContaining(path) })],
    })
    expect(mails).toEqual([])
  })

  it('is delivered to the accepted recipients, and reports the rejected ones', async () => {
    const { config, mails } = await receiver({ unknown: ['unknown@example.com', 'noone@example.com'] })
    const to = ['ada@example.com', 'unknown@example.com']
    expect(await send(config, { ...mail, to })).toMatchObject({
      accepted: ['ada@example.com'],
      rejected: [{ address: 'unknown@example.com', message: expect.stringContaining('550') }],
    })
    await expect(
      send(config, { ...mail, to: ['unknown@example.com', 'noone@example.com'] }),
    ).rejects.toMatchObject({
      ...{ kind: 'answered', sent: false, status: undefined, message: expect.stringContaining('550') },
    })
    expect(mails).toHaveLength(1)
  })

  it('can be retried after a temporary refusal', async () => {
    const server = await receiver()
    server.refuseNext(1)
    await expect(send(server.config)).rejects.toMatchObject({ kind: 'answered', sent: false, status: 429 })
  })
})

describe('the connection', () => {
  it.each(['tls', 'starttls'] as const)(
    'is encrypted, and verifies the certificate for the host: %s',
    async (security) => {
      const { config, mails } = await receiver({ security })
      await send({ ...config, ...login }, mail, { secret: 'p@ss' })
      expect(mails).toMatchObject([{ secure: true, user: 'ops' }])
      for (const change of [{ ca: undefined }, { ca: other }, { host: 'other.example' }])
        await expect(send({ ...config, ...change })).rejects.toMatchObject({ kind: 'unreachable' })
      expect(mails).toHaveLength(1)
    },
  )

  it('is not used without TLS where TLS is required', async () => {
    const { config, mails } = await receiver()
    const secure = { ...config, ...login, security: 'starttls' }
    await expect(send(secure, mail, { secret: 'p@ss' })).rejects.toMatchObject({ name: 'CallFailure' })
    expect(mails).toEqual([])
  })

  it('is never opened to internal addresses', async () => {
    const outbound = localOutbound({ allowedCidrs: [] })
    closers.push(() => outbound.close())
    const { config } = await receiver()
    kind = smtpKind(outbound)
    for (const host of ['127.1', 'localhost', '169.254.169.254']) {
      await expect(send({ ...config, host })).rejects.toMatchObject({ kind: 'blocked' })
      expect(() => kind.check(kind.config.parse({ ...config, host }))).toThrow('special address')
    }
  })

  it.each(['pass', 'leave'] as const)('is closed when the call ends: %s', async (end) => {
    const silent = createServer().listen(0, '127.0.0.1')
    await once(silent, 'listening')
    closers.push(() => silent.close())
    const { port } = silent.address() as AddressInfo
    const connected = once(silent, 'connection') as Promise<[Socket]>
    const over = deadline()
    const config = { host: 'mail.example', port, security: 'none', from: 'ops@example.com' }
    const sending = send(config, mail, { signal: over.signal })
    const failed = expect(sending).rejects.toMatchObject({ kind: end === 'pass' ? 'timeout' : 'cancelled' })
    const [socket] = await connected
    const closed = once(socket.resume(), 'close')
    over[end]()
    await failed
    await closed
  })

  it('survives a server that speaks another protocol or sends endless data', async () => {
    for (const words of [
      'HTTP/1.1 400 Bad Request\r\n\r\n',
      '220-x\r\n'.repeat(500_000),
      'x'.repeat(9_000_000),
    ]) {
      const strange = createServer((socket) => socket.on('error', () => {}).end(words)).listen(0, '127.0.0.1')
      await once(strange, 'listening')
      const { port } = strange.address() as AddressInfo
      const config = { host: 'mail.example', port, security: 'none', from: 'ops@example.com' }
      await expect(send(config)).rejects.toMatchObject({ name: 'CallFailure' })
      strange.close()
    }
  })
})

describe('a test', () => {
  it('logs in and sends nothing', async () => {
    const { config, mails } = await receiver({ security: 'starttls' })
    const call = (secret: string) => buildCall(kind, { ...config, ...login }, { secret })
    expect(await kind.test(call('p@ss'))).toBe('mail.example lets ops send mail.')
    const failed = await kind.test(call('hunter2')).catch((error: unknown) => error)
    expect(failed).toMatchObject({ kind: 'answered' })
    expect(`${failed}${JSON.stringify(failed)}`).not.toContain('hunter2')
    expect(mails).toEqual([])
  })
})

describe('the configuration of an SMTP connector', () => {
  const config = { host: 'mail.example', from: 'ops@example.com' }

  it.each([
    [{ user: 'ops', password: 'hunter2' }, 'password'],
    [{ user: 'ops' }, 'password'],
    [{ from: 'ops' }, 'from'],
    [{ security: 'ssl' }, 'security'],
    [{ host: 'a\r\nb' }, 'host'],
  ])('rejects %j', (change, path) => {
    const parsed = kind.config.safeParse({ ...config, ...change })
    expect(parsed.error?.issues.map((issue) => issue.path[0])).toEqual([path])
  })

  it('allows a login only over TLS, and only ports that the operator lists', () => {
    const check = (change: object) => () => kind.check(kind.config.parse({ ...config, ...change }))
    expect(check({ ...login, security: 'none', port: 2525 })).toThrow('to log in')
    expect(check({ port: 25 })).toThrow('Port 25')
    expect(check({})).toThrow('Port 465')
  })
})
