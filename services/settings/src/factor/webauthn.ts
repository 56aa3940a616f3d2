import {
  ApiError,
  type PasskeyAssertion,
  type PasskeyAttestation,
  type PasskeyCreation,
  type PasskeyRequest,
} from '@opsplane/contracts'
import type { RelyingParty } from './relying-party.js'

/** A passkey as it is kept; texts of bytes are in base64url. */
export interface StoredPasskey {
  credentialId: string
  publicKey: string
  signCounter: number
  transports: string[]
}

/** Loaded with the first passkey, not with the service. */
const webauthn = () => import('@simplewebauthn/server')

const timeoutMs = 300_000
/** EdDSA, ES256 and RS256, as COSE numbers them. */
const algorithms = [-8, -7, -257]

const descriptor = ({ credentialId, transports }: Pick<StoredPasskey, 'credentialId' | 'transports'>) => ({
  id: credentialId,
  type: 'public-key' as const,
  transports,
})

/** The bytes a browser signs: the hash of the challenge, which is stored in place of it. */
export const signedChallenge = (challengeHash: string): string =>
  Buffer.from(challengeHash, 'hex').toString('base64url')

/** The handle of a login in its authenticators. */
export const userHandle = (accountId: string): string => Buffer.from(accountId).toString('base64url')

export function passkeyCreation(
  { id }: RelyingParty,
  user: { id: string; email: string; name: string },
  {
    challengeHash,
    known,
  }: { challengeHash: string; known: Pick<StoredPasskey, 'credentialId' | 'transports'>[] },
): PasskeyCreation {
  return {
    challenge: signedChallenge(challengeHash),
    rp: { id, name: 'Opsplane' },
    user: { id: userHandle(user.id), name: user.email, displayName: user.name },
    pubKeyCredParams: algorithms.map((alg) => ({ type: 'public-key', alg })),
    timeout: timeoutMs,
    excludeCredentials: known.map(descriptor),
    authenticatorSelection: { residentKey: 'preferred', userVerification: 'preferred' },
    attestation: 'none',
  }
}

/** `known`: of which of them an answer is wanted; none for a person who is still to be found by it. */
export function passkeyRequest(
  { id }: RelyingParty,
  challengeHash: string,
  known: Pick<StoredPasskey, 'credentialId' | 'transports'>[] = [],
): PasskeyRequest {
  return {
    challenge: signedChallenge(challengeHash),
    rpId: id,
    timeout: timeoutMs,
    // A passkey that signs in alone has to know its person: by a PIN, a finger or a face.
    userVerification: known.length === 0 ? 'required' : 'preferred',
    allowCredentials: known.map(descriptor),
  }
}

/** Throws `validation_failed` for what is no new credential of this page and challenge. */
export async function readAttestation(
  { id: rpId, origin }: RelyingParty,
  { response, ...credential }: PasskeyAttestation,
  challengeHash: string,
): Promise<StoredPasskey> {
  const { verifyRegistrationResponse } = await webauthn()
  const { clientDataJSON, attestationObject, transports = [] } = response
  const { id, rawId, type } = credential
  try {
    const verified = await verifyRegistrationResponse({
      response: {
        id,
        rawId,
        type,
        clientExtensionResults: {},
        response: { clientDataJSON, attestationObject },
      },
      expectedChallenge: signedChallenge(challengeHash),
      expectedOrigin: origin,
      expectedRPID: rpId,
      requireUserVerification: false,
      supportedAlgorithmIDs: algorithms,
    })
    if (!verified.verified) throw new Error('its statement is not verified')
    const { publicKey, counter, id: credentialId } = verified.registrationInfo.credential
    return {
      ...{ credentialId, transports, signCounter: counter },
      publicKey: Buffer.from(publicKey).toString('base64url'),
    }
  } catch (error) {
    throw badCredential(error)
  }
}

/** Null for an assertion that this passkey has not made for this page and challenge. Its counter is the caller's to compare. */
export async function readAssertion(
  { id: rpId, origin }: RelyingParty,
  { response, ...credential }: PasskeyAssertion,
  { challengeHash, passkey }: { challengeHash: string; passkey: Omit<StoredPasskey, 'signCounter'> },
): Promise<{ signCounter: number; userVerified: boolean } | null> {
  const { verifyAuthenticationResponse } = await webauthn()
  const { clientDataJSON, authenticatorData, signature } = response
  const { id, rawId, type } = credential
  try {
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: {
        ...{ id, rawId, type, clientExtensionResults: {} },
        response: { clientDataJSON, authenticatorData, signature },
      },
      expectedChallenge: signedChallenge(challengeHash),
      expectedOrigin: origin,
      expectedRPID: rpId,
      requireUserVerification: false,
      credential: {
        id: passkey.credentialId,
        publicKey: new Uint8Array(Buffer.from(passkey.publicKey, 'base64url')),
        // It would be compared before the signature is: who has no key could then report a copy.
        counter: 0,
      },
    })
    const { newCounter: signCounter, userVerified } = authenticationInfo
    return verified ? { signCounter, userVerified } : null
  } catch {
    // Whatever a stranger sends, of any form: it proves nothing.
    return null
  }
}

function badCredential(cause: unknown): ApiError {
  const message = 'The credential is not a new one made by this page for this challenge. Start again.'
  return new ApiError('validation_failed', message, {
    details: [{ in: 'body', path: '/credential', code: 'invalid_credential', message }],
    cause,
  })
}
