import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { type SmtpReceiver, startSmtpReceiver } from '@opsplane/testing'
import { createMailer, type Mail, type Mailer } from './mailer.js'

let receiver: SmtpReceiver

beforeAll(async () => {
  receiver = await startSmtpReceiver()
})
afterAll(() => receiver?.stop())

const patience = () => AbortSignal.timeout(10_000)
const mail = (fields: Partial<Mail> = {}): Mail => ({
  id: 'ntf_1.usr_1',
  to: 'ada@example.com',
  subject: 'A subject',
  text: 'First line\n\nLast line\n',
  ...fields,
})
function mailer(smtpUrl: string): Mailer {
  const made = createMailer({ smtpUrl, smtpFrom: 'Opsplane <ops@example.com>' })
  if (made === null) throw new Error('no mailer')
  return made
}

describe('a mailer', () => {
  it('is created only with SMTP settings', () => {
    expect(createMailer({})).toBeNull()
  })

  it('sends plain text with a Message-ID derived from the id of the mail', async () => {
    await mailer(receiver.url).send(mail(), patience())
    const received = receiver.mails.at(-1)
    expect(received).toMatchObject({ user: null, recipients: ['ada@example.com'], text: mail().text })
    expect(Object.fromEntries(received?.headers ?? [])).toMatchObject({
      from: 'Opsplane <ops@example.com>',
      to: 'ada@example.com',
      subject: 'A subject',
      'message-id': '<ntf_1.usr_1@example.com>',
      'auto-submitted': 'auto-generated',
      'content-type': 'text/plain; charset=utf-8',
    })
  })

  it('logs in with the credentials in the URL', async () => {
    await mailer(receiver.url.replace('//', '//ops:p%40ss@')).send(mail(), patience())
    expect(receiver.mails.at(-1)?.user).toBe('ops')
    const wrong = mailer(receiver.url.replace('//', '//ops:hunter2@')).send(mail(), patience())
    await expect(wrong).rejects.toThrow(expect.not.stringContaining('hunter2'))
  })

  it('neutralises injected headers and recipients', async () => {
    const subject = 'A\r\nBcc: eve@example.com\u2028B'
    await mailer(receiver.url).send(mail({ subject }), patience())
    const received = receiver.mails.at(-1)
    expect(received?.recipients).toEqual(['ada@example.com'])
    expect(received?.headers.has('bcc')).toBe(false)
    expect(received?.headers.get('subject')).toBe('A Bcc: eve@example.com B')
  })

  it('closes the connection to a silent server when it is aborted', async () => {
    const silent = createServer()
    await once(silent.listen(0, '127.0.0.1'), 'listening')
    const address = silent.address()
    const port = typeof address === 'object' ? address?.port : undefined
    const connected = once(silent, 'connection') as Promise<[Socket]>
    const giveUp = new AbortController()
    const sending = mailer(`smtp://127.0.0.1:${port}`).send(mail(), giveUp.signal)
    const refused = expect(sending).rejects.toMatchObject({ code: 'EABORT' })
    const [socket] = await connected
    const closed = once(socket.resume(), 'close')
    giveUp.abort()
    await refused
    await closed
    silent.close()
  })
})
