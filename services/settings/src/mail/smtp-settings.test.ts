import { describe, expect, it } from '@jest/globals'
import { readSmtpUrl } from './smtp-settings.js'

describe('SMTP_URL', () => {
  it('contains the host, the port and the login', () => {
    expect(readSmtpUrl('smtp://ada%40example.com:p%3Ass@mail.example.com:2525')).toEqual({
      host: 'mail.example.com',
      port: 2525,
      secure: false,
      requireTLS: true,
      auth: { user: 'ada@example.com', pass: 'p:ss' },
    })
  })

  it('defaults to the port of its protocol', () => {
    expect(readSmtpUrl('smtp://mail.example.com')).toMatchObject({
      port: 587,
      secure: false,
      requireTLS: false,
    })
    expect(readSmtpUrl('smtps://mail.example.com')).toMatchObject({ port: 465, secure: true })
  })

  it('allows a password without TLS only on this machine', () => {
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
  ])('%s is rejected', (text) => {
    expect(readSmtpUrl(text)).toBeNull()
  })
})
