import { generateKeyPairSync } from 'node:crypto'
import { describe, expect, test } from '@jest/globals'
import { eventHeaders } from '@opsplane/contracts'
import { derivePublicKey } from '@opsplane/runtime'
import { createEventSignatures, type EventSignaturesOptions, type SignedMessage } from './event-signatures.js'

const newKey = () =>
  generateKeyPairSync('ed25519').privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64')
const keys = { itsm: newKey(), settings: newKey(), 'data-base': newKey(), dispatcher: newKey() }
const trustedKeys = Object.fromEntries(
  Object.entries(keys).map(([name, key]) => [name, derivePublicKey(key)]),
)
const verifiers = ['settings', 'dispatcher']
const of = (service: keyof typeof keys, changes: Partial<EventSignaturesOptions> = {}) =>
  createEventSignatures({ service, privateKey: keys[service], trustedKeys, verifiers, ...changes })

const unsigned = {
  subject: 'evt.ws_1.production.incident.created',
  body: '{"title":"Zwölf"}',
  headers: {
    [eventHeaders.source]: 'itsm',
    [eventHeaders.position]: '7',
    [eventHeaders.lowWatermark]: '6',
    [eventHeaders.messageId]: 'evt_1',
  } as Record<string, string>,
}
type Message = typeof unsigned
const asMessage = ({ headers, subject }: Message): SignedMessage => ({
  subject,
  header: (name) => headers[name],
})
const signedBy = (service: keyof typeof keys, message = unsigned, changes = {}): Message => ({
  ...message,
  headers: {
    ...message.headers,
    [eventHeaders.signature]: of(service, changes).sign(asMessage(message), message.body),
  },
})
const signed = signedBy('itsm')
const checkedBy = (service: keyof typeof keys, message: Message, changes = {}) =>
  of(service, changes).check(asMessage(message), message.body)

test('every verifier recognizes that the source has signed a message', () => {
  for (const service of ['settings', 'dispatcher'] as const)
    expect(() => checkedBy(service, signed)).not.toThrow()
  const dashed = { ...unsigned, headers: { ...unsigned.headers, [eventHeaders.source]: 'data_base' } }
  expect(() => checkedBy('settings', signedBy('data-base', dashed))).not.toThrow()
})

describe('a verifier rejects', () => {
  const withHeader = (name: string, value: string) => ({
    ...signed,
    headers: { ...signed.headers, [name]: value },
  })
  const forged = (): Message => {
    // A verifier has the key it shares with itsm, and signs for another verifier with it.
    const [, mac = ''] = signed.headers[eventHeaders.signature]?.split(' ') ?? []
    const [signer = '', , other = ''] = signed.headers[eventHeaders.signature]?.split(' ') ?? []
    return withHeader(eventHeaders.signature, `${signer} ${other.split('=')[0]}=${mac.split('=')[1]}`)
  }
  test.each<[string, Message]>([
    ['without a signature', unsigned],
    ['with another body', { ...signed, body: '{"title":"Elf"}' }],
    ['moved to another workspace', { ...signed, subject: 'evt.ws_2.production.incident.created' }],
    ['under another id', withHeader(eventHeaders.messageId, 'evt_2')],
    ['at another position', withHeader(eventHeaders.position, '8')],
    ['with another floor', withHeader(eventHeaders.lowWatermark, '1000000')],
    ['in the name of another service', withHeader(eventHeaders.source, 'settings')],
    ['signed by another service than its source', signedBy('dispatcher')],
    ['signed with an untrusted key', signedBy('itsm', unsigned, { privateKey: newKey() })],
    ['with a signature that is none', withHeader(eventHeaders.signature, 'x y=z =')],
    ['with the signature for another verifier', forged()],
  ])('a message %s', (_what, message) => {
    expect(() => checkedBy('dispatcher', message)).toThrow('not authentic')
  })

  test('a message that is signed only for other verifiers', () => {
    expect(() => checkedBy('data-base', signed)).toThrow('not signed for this service')
  })
})

test('accepts a signature made with or for an earlier key while both sides still have that key', () => {
  const [newItsm, newSettings] = [newKey(), newKey()]
  const both = { ...trustedKeys, itsm: `${derivePublicKey(newItsm)},${trustedKeys.itsm}` }
  expect(() => checkedBy('settings', signed, { trustedKeys: both })).not.toThrow()
  const resigned = signedBy('itsm', unsigned, { privateKey: newItsm })
  expect(() => checkedBy('settings', resigned, { trustedKeys: both })).not.toThrow()
  expect(() => checkedBy('settings', resigned)).toThrow('not authentic')
  const rotated = { privateKey: newSettings, previousPrivateKeys: [keys.settings] }
  expect(() => checkedBy('settings', signed, rotated)).not.toThrow()
  expect(() => checkedBy('settings', signed, { privateKey: newSettings })).toThrow('not authentic')
})
