import { isIP } from 'node:net'
import { ApiError } from '@opsplane/contracts'

/** The host and origin that passkeys are bound to. */
export interface RelyingParty {
  id: string
  origin: string
}

/** The relying party of the public origin, or the reason why passkeys are disabled. */
export function resolveRelyingParty(publicOrigin: string | undefined): RelyingParty | { reason: string } {
  if (publicOrigin === undefined)
    return { reason: 'Passkeys are off: PUBLIC_ORIGIN, which names the host they are bound to, is not set.' }
  const { hostname, origin, protocol } = new URL(publicOrigin)
  if (isIP(hostname.replaceAll(/[[\]]/g, '')) !== 0) {
    return {
      reason: `Passkeys are off: browsers bind them to a name, and PUBLIC_ORIGIN is the address ${hostname}. Use a name, on this machine localhost.`,
    }
  }
  const isLocal = hostname === 'localhost' || hostname.endsWith('.localhost')
  if (protocol !== 'https:' && !isLocal)
    return { reason: `Passkeys are off: browsers want https, and PUBLIC_ORIGIN is ${origin}.` }
  return { id: hostname, origin }
}

/** Throws `conflict` with the reason if passkeys are disabled. */
export function requireRelyingParty(party: RelyingParty | { reason: string }): RelyingParty {
  if (!('reason' in party)) return party
  throw new ApiError('conflict', party.reason, {
    details: [{ in: 'body', path: '', code: 'passkeys_unavailable', message: party.reason }],
  })
}
