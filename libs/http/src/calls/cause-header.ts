import { sign, verify } from 'node:crypto'
import type { BackendName } from '@opsplane/contracts'
import { LRUCache } from 'lru-cache'
import { isCause } from './causation.js'
import { parsePrivateKey, parsePublicKey } from './internal-token.js'

/** Header by which requests that leave the platform name the run or execution that caused them (ADR 125). */
export const causeHeader = 'x-service-cause'

/** Services that send requests to tenants' URLs. */
const senders: readonly string[] = ['dispatcher', 'integrations', 'workflows', 'sdk'] satisfies BackendName[]

/** Service, then the id of a run or execution, then the signature. */
const form = /^([a-z]+):((?:run|exec)_[0-9A-Z]{26}):([A-Za-z0-9_-]{86})$/
const maxKept = 1_000

/** Returns the headers that name a cause; empty unless the cause is a run or execution. */
export type SignCause = (cause: string | null | undefined) => Record<string, string>

/**
 * `privateKey`: the service's key, Ed25519, PKCS#8 DER in base64. The signature of a cause
 * is cached, as many requests may name it.
 */
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

/** The cause named by a header; `null` if there is none, or if no service of this installation signed it. */
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

/** The prefix separates these signatures from all others made with the keys of services. */
const textOf = (service: string, cause: string) => Buffer.from(`opsplane cause ${service} ${cause}`)
