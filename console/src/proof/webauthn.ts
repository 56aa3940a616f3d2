import type { components } from '@opsplane/client'

type Schemas = components['schemas']
export type PasskeyRequest = Schemas['PasskeyRequest']
export type PasskeyCreation = Schemas['PasskeyCreation']
export type PasskeyAssertion = Schemas['FactorAssertion']['assertion']
export type PasskeyAttestation = Schemas['NewPasskey']['credential']

/** The person cancelled, has no passkey on this device, or was too slow: browsers do not distinguish these cases. */
export class PasskeyUnused extends Error {
  constructor(options: { cause?: unknown } = {}) {
    super('The browser made or used no passkey.', options)
    this.name = 'PasskeyUnused'
  }
}

/** Whether this browser supports passkeys at this address: they require a domain name and a secure origin. */
export const hasPasskeys = (): boolean =>
  window.isSecureContext && 'PublicKeyCredential' in window && !/^[\d.]+$|^\[/.test(location.hostname)

// Not `parseRequestOptionsFromJSON` and `toJSON`, because some browsers that the console supports lack them.

/** Requests an assertion from a passkey. Throws PasskeyUnused. */
export async function requestPasskey(request: PasskeyRequest): Promise<PasskeyAssertion> {
  const publicKey: PublicKeyCredentialRequestOptions = {
    ...request,
    challenge: decodeBase64Url(request.challenge),
    allowCredentials: request.allowCredentials.map(descriptorOf),
  }
  const { rawId, response } = await credentialBy(navigator.credentials.get({ publicKey }))
  const { clientDataJSON, authenticatorData, signature, userHandle } =
    response as AuthenticatorAssertionResponse
  return {
    ...identified(rawId),
    response: {
      clientDataJSON: encodeBase64Url(clientDataJSON),
      authenticatorData: encodeBase64Url(authenticatorData),
      signature: encodeBase64Url(signature),
      userHandle: userHandle && encodeBase64Url(userHandle),
    },
  }
}

/** Creates a passkey. Throws PasskeyUnused. */
export async function createPasskey(creation: PasskeyCreation): Promise<PasskeyAttestation> {
  const publicKey: PublicKeyCredentialCreationOptions = {
    ...creation,
    challenge: decodeBase64Url(creation.challenge),
    user: { ...creation.user, id: decodeBase64Url(creation.user.id) },
    excludeCredentials: creation.excludeCredentials.map(descriptorOf),
  }
  const { rawId, response } = await credentialBy(navigator.credentials.create({ publicKey }))
  const { clientDataJSON, attestationObject, getTransports } = response as AuthenticatorAttestationResponse
  return {
    ...identified(rawId),
    response: {
      clientDataJSON: encodeBase64Url(clientDataJSON),
      attestationObject: encodeBase64Url(attestationObject),
      transports: getTransports.call(response),
    },
  }
}

async function credentialBy(pendingCredential: Promise<Credential | null>): Promise<PublicKeyCredential> {
  const credential = await pendingCredential.catch((cause: unknown) => {
    throw new PasskeyUnused({ cause })
  })
  if (credential === null) throw new PasskeyUnused()
  return credential as PublicKeyCredential
}

const identified = (rawId: ArrayBuffer) => ({
  id: encodeBase64Url(rawId),
  rawId: encodeBase64Url(rawId),
  type: 'public-key' as const,
})

const descriptorOf = ({ id, type, transports }: PasskeyRequest['allowCredentials'][number]) => ({
  id: decodeBase64Url(id),
  type,
  transports: transports as AuthenticatorTransport[],
})

/** Decodes base64url without padding. */
export function decodeBase64Url(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (digit) => digit.charCodeAt(0))
}

/** Encodes as base64url without padding. */
export function encodeBase64Url(bytes: ArrayBuffer): string {
  const digits = Array.from(new Uint8Array(bytes), (byte) => String.fromCharCode(byte)).join('')
  return btoa(digits).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}
