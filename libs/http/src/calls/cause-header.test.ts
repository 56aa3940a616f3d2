import { describe, expect, it } from '@jest/globals'
import { newId } from '@opsplane/contracts'
import { causeHeader, createCauseSigner, createCauseVerifier } from './cause-header.js'
import { generateServiceKeys } from './internal-token.js'

const keys = {
  dispatcher: generateServiceKeys(),
  sdk: generateServiceKeys(),
  itsm: generateServiceKeys(),
}
const trusted = Object.fromEntries(Object.entries(keys).map(([name, { publicKey }]) => [name, publicKey]))
const verify = createCauseVerifier(trusted)
const signedBy = (service: keyof typeof keys, cause: string, key = keys[service]) =>
  createCauseSigner({ service, privateKey: key.privateKey })(cause)[causeHeader]

describe('the cause header', () => {
  it.each([newId('run'), newId('execution')])('is verified and returns the signed cause: %s', (cause) => {
    expect(verify(signedBy('dispatcher', cause))).toBe(cause)
    expect(verify(signedBy('sdk', cause))).toBe(cause)
  })

  it('is omitted unless the cause is a run or an execution', () => {
    const sign = createCauseSigner({ service: 'sdk', privateKey: keys.sdk.privateKey })
    for (const none of [null, undefined, '', newId('event'), newId('incident')])
      expect(sign(none)).toEqual({})
  })

  it('stays valid after a key rotation while the previous key is trusted', () => {
    const run = newId('run')
    const next = generateServiceKeys()
    const both = createCauseVerifier({ ...trusted, sdk: `${next.publicKey},${keys.sdk.publicKey}` })
    expect(both(signedBy('sdk', run))).toBe(run)
    expect(both(signedBy('sdk', run, next))).toBe(run)
  })

  const run = newId('run')
  const genuine = signedBy('dispatcher', run) ?? ''
  const [, , signature = ''] = genuine.split(':')
  it.each<[string, string | undefined]>([
    ['nothing', undefined],
    ['nothing signed', run],
    ['another run with the signature of one', `dispatcher:${newId('run')}:${signature}`],
    ['another sender', `sdk:${run}:${signature}`],
    ['a key of another installation', signedBy('dispatcher', run, generateServiceKeys())],
    ['a service that sends nothing to tenants', signedBy('itsm', run)],
    ['a service that is unknown', `toString:${run}:${signature}`],
    ['a signature that was cut', genuine.slice(0, -1)],
    ['more than that', `${genuine}x`],
  ])('yields no cause for %s', (_, header) => {
    expect(verify(header)).toBeNull()
  })
})
