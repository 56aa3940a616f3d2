import {
  ApiError,
  type PasskeyAssertion,
  type PasskeyAttestation,
  type PasskeyCreation,
  type PasskeyRequest,
} from '@opsplane/contracts'
import type { RelyingParty } from './relying-party.js'

/** A passkey as stored; binary fields are in base64url. */
export interface StoredPasskey {
  credentialId: string
  publicKey: string
  signCounter: number
  transports: string[]
}

/** Loaded with the first passkey, not at startup. */
const webauthn = () => import('@simplewebauthn/server')

const timeoutMs = 300_000
/** COSE identifiers of EdDSA, ES256 and RS256. */
const algorithms = [-8, -7, -257]

const descriptor = ({ credentialId, transports }: Pick<StoredPasskey, 'credentialId' | 'transports'>) => ({
  id: credentialId,
  type: 'public-key' as const,
  transports,
})

/** The bytes a browser signs: the hash of the challenge, which is stored instead of the challenge. */
export const signedChallenge = (challengeHash: string): string =>
  Buffer.from(challengeHash, 'hex').toString('base64url')

/** The user handle of a login in its authenticators. */
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

/** @param known - the passkeys that may answer; empty if the passkey is to identify the person */
export function passkeyRequest(
  { id }: RelyingParty,
  challengeHash: string,
  known: Pick<StoredPasskey, 'credentialId' | 'transports'>[] = [],
): PasskeyRequest {
  return {
    challenge: signedChallenge(challengeHash),
    rpId: id,
    timeout: timeoutMs,
    // A passkey that signs in alone must verify its person: by a PIN, a finger or a face.
    userVerification: known.length === 0 ? 'required' : 'preferred',
    allowCredentials: known.map(descriptor),
  }
}

/** Throws `validation_failed` unless it is a new credential for this page and challenge. */
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

/** `null` unless this passkey made the assertion for this page and challenge. The caller must compare the counter. */
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
        // With the stored counter, the library would compare it before the signature: an attempt without the private key
        // could then report a cloned passkey.
        counter: 0,
      },
    })
    const { newCounter: signCounter, userVerified } = authenticationInfo
    return verified ? { signCounter, userVerified } : null
  } catch {
    // Input of strangers may have any form; invalid input proves nothing.
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
