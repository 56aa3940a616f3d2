import { sign, verify } from 'node:crypto'
import type { BackendName } from '@opsplane/contracts'
import { LRUCache } from 'lru-cache'
import { isCause } from './causation.js'
import { parsePrivateKey, parsePublicKey } from './internal-token.js'

/** By which requests that leave the platform name the run or the execution that has caused them: see ADR 125. */
export const causeHeader = 'x-service-cause'

/** Services that send requests to addresses of tenants. */
const senders: readonly string[] = ['dispatcher', 'integrations', 'workflows', 'sdk'] satisfies BackendName[]

/** A run or an execution, by its id. */
const form = /^([a-z]+):((?:run|exec)_[0-9A-Z]{26}):([A-Za-z0-9_-]{86})$/
const maxKept = 1_000

/** The headers that name a cause; none for what is no run and no execution. */
export type SignCause = (cause: string | null | undefined) => Record<string, string>

/** `privateKey`: of the service, Ed25519, PKCS#8 DER in base64. A cause is signed once, as many requests may name it. */
export function createCauseSigner({
  service,
  privateKey,
}: {
  service: BackendName
  privateKey: string
}): SignCause {
  const key = parsePrivateKey(privateKey)
  const kept = new LRUCache<string, string>({ max: maxKept })
  const signed = (cause: string) =>
    `${service}:${cause}:${sign(null, textOf(service, cause), key).toString('base64url')}`
  return (cause) => {
    if (typeof cause !== 'string' || !isCause(cause)) return {}
    const value = kept.get(cause) ?? signed(cause)
    kept.set(cause, value)
    return { [causeHeader]: value }
  }
}

/** The cause that a header names; null where there is none, or no service of this installation has signed it. */
export type VerifyCause = (header: string | undefined) => string | null

/** `trustedKeys`: service name to its public keys, SPKI DER in base64, separated by commas. */
export function createCauseVerifier(trustedKeys: Readonly<Record<string, string>>): VerifyCause {
  const keys = new Map(
    senders.map((name) => [
      name,
      (trustedKeys[name] ?? '').split(',').flatMap((key) => (key === '' ? [] : [parsePublicKey(key)])),
    ]),
  )
  return (header) => {
    const [, service = '', cause = '', signature = ''] = form.exec(header ?? '') ?? []
    const text = textOf(service, cause)
    const bytes = Buffer.from(signature, 'base64url')
    return keys.get(service)?.some((key) => verify(null, text, key, bytes)) ? cause : null
  }
}

/** Nothing else that is signed with the keys of services reads like it. */
const textOf = (service: string, cause: string) => Buffer.from(`opsplane cause ${service} ${cause}`)
