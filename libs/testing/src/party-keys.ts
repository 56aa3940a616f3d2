import { headers, type MsgHdrs } from '@nats-io/transport-node'
import {
  durableConsumers,
  eventHeaders,
  eventOwner,
  type InternalParty,
  internalParties,
} from '@opsplane/contracts'
import { generateServiceKeys } from '@opsplane/http'
import { createEventSignatures, type EventSignatures } from '@opsplane/nats'

const keys = new Map<string, ReturnType<typeof generateServiceKeys>>()
const signatures = new Map<string, EventSignatures>()

/** The keys of a party in this process, so that services started by tests in it trust each other. */
export function testKeys(party: string): { privateKey: string; publicKey: string } {
  const known = keys.get(party) ?? generateServiceKeys()
  keys.set(party, known)
  return known
}

/** Value of TRUSTED_SERVICE_KEYS in tests: the public keys of all parties, and of `others`. */
export const testTrustedKeys = (...others: string[]): Record<string, string> =>
  Object.fromEntries([...internalParties, ...others].map((party) => [party, testKeys(party).publicKey]))

/** `[prefix.]evt.<workspaceId>.<environment>.<type>` */
const ownerOf = (subject: string) => eventOwner(/(?:^|\.)evt\.[^.]+\.[^.]+\.(.+)$/.exec(subject)?.[1] ?? '')

/**
 * The headers of a message a test publishes in the name of a service, signed by it;
 * default: the owner of the event type.
 */
export function signedHeaders(
  { subject, body }: { subject: string; body: string },
  {
    by = ownerOf(subject) ?? 'itsm',
    ...more
  }: { by?: InternalParty; messageId?: string; position?: number } = {},
): MsgHdrs {
  const carried = headers()
  carried.set(eventHeaders.source, by.replaceAll('-', '_'))
  if (more.messageId !== undefined) carried.set(eventHeaders.messageId, more.messageId)
  if (more.position !== undefined) carried.set(eventHeaders.position, String(more.position))
  const known =
    signatures.get(by) ??
    createEventSignatures({
      service: by,
      privateKey: testKeys(by).privateKey,
      trustedKeys: testTrustedKeys(),
      verifiers: Object.keys(durableConsumers),
    })
  signatures.set(by, known)
  carried.set(eventHeaders.signature, known.sign({ subject, header: (name) => carried.get(name) }, body))
  return carried
}
