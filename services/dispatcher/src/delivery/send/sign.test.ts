import { describe, expect, it } from '@jest/globals'
import { buildSignatureHeaders } from './sign.js'

describe('signature headers', () => {
  it('agree with the Standard Webhooks reference vector', () => {
    const headers = buildSignatureHeaders(['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'], {
      messageId: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      timestamp: 1614265330,
      body: '{"test": 2432232314}',
    })
    expect(headers['webhook-signature']).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=')
  })

  it('agree with the documented GitHub-style vector', () => {
    const headers = buildSignatureHeaders(["It's a Secret to Everybody"], {
      messageId: 'evt_1',
      timestamp: 1,
      body: 'Hello, World!',
    })
    expect(headers['x-service-signature-256']).toBe(
      'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17',
    )
  })

  it('carry one Standard Webhooks signature per valid secret, the newest first', () => {
    const message = { messageId: 'evt_1', timestamp: 1, body: '{}' }
    const [newest, oldest] = ['new', 'old'].map(
      (secret) => buildSignatureHeaders([secret], message)['webhook-signature'],
    )
    expect(buildSignatureHeaders(['new', 'old'], message)['webhook-signature']).toBe(`${newest} ${oldest}`)
  })

  it('carry one X-Service-Signature-256, with the secret that became valid first', () => {
    const message = { messageId: 'evt_1', timestamp: 1, body: '{}' }
    const serviceOf = (...secrets: string[]) =>
      buildSignatureHeaders(secrets, message)['x-service-signature-256']
    expect(serviceOf('third', 'second', 'first')).toBe(serviceOf('first'))
    expect(serviceOf('first')).not.toBe(serviceOf('third'))
  })

  it('sign the bytes, not the characters', () => {
    const [plain, composed] = ['\u00e9', 'e\u0301'].map(
      (body) =>
        buildSignatureHeaders(['s'], { messageId: 'm', timestamp: 1, body })['x-service-signature-256'],
    )
    expect(plain).not.toBe(composed)
  })

  it('are absent without a secret', () => {
    expect(buildSignatureHeaders([], { messageId: 'm', timestamp: 1, body: '' })).toEqual({})
  })
})
