import { describe, expect, it } from '@jest/globals'
import { readSmtpUrl } from './smtp-settings.js'

describe('SMTP_URL', () => {
  it('names server, port and login', () => {
    expect(readSmtpUrl('smtp://ada%40example.com:p%3Ass@mail.example.com:2525')).toEqual({
      host: 'mail.example.com',
      port: 2525,
      secure: false,
      requireTLS: true,
      auth: { user: 'ada@example.com', pass: 'p:ss' },
    })
  })

  it('has the port of the protocol unless it says another', () => {
    expect(readSmtpUrl('smtp://mail.example.com')).toMatchObject({
      port: 587,
      secure: false,
      requireTLS: false,
    })
    expect(readSmtpUrl('smtps://mail.example.com')).toMatchObject({ port: 465, secure: true })
  })

  it('lets a password go without TLS on this machine only', () => {
    expect(readSmtpUrl('smtp://a:b@127.0.0.1:25')?.requireTLS).toBe(false)
    expect(readSmtpUrl('smtp://a:b@[::1]:25')).toMatchObject({ host: '::1', requireTLS: false })
    expect(readSmtpUrl('smtp://a:b@127.0.0.1.example.com')?.requireTLS).toBe(true)
  })

  it.each([
    'mail.example.com',
    'http://mail.example.com',
    'smtp://',
    'smtp://mail.example.com?tls=off',
    'smtp://mail.example.com/inbox',
    'smtp://a:%zz@mail.example.com',
  ])('%s is none', (text) => {
    expect(readSmtpUrl(text)).toBeNull()
  })
})
