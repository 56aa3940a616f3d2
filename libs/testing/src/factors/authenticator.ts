import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import { encodeCbor } from './cbor.js'

interface Request {
  challenge: string
}
interface CreationRequest extends Request {
  rp: { id: string }
  user: { id: string }
}
interface AssertionRequest extends Request {
  rpId: string
}

/** Deliberate deviations from correct behavior. */
export interface Deviations {
  origin?: string
  rpId?: string
  /** The reported counter; default: the last one plus one. */
  counter?: number
  userVerified?: boolean
  /** Signed with another key. */
  forged?: boolean
}

export type Authenticator = ReturnType<typeof createAuthenticator>

const userPresent = 0x01
const userVerified = 0x04
const attested = 0x40
const aaguidBytes = 16
/** Labels of RFC 9053. */
const cose = { keyType: 1, algorithm: 3, curve: -1, x: -2, y: -3, ec2: 2, es256: -7, p256: 1 }

const base64url = (bytes: string | Buffer) => Buffer.from(bytes).toString('base64url')
const sha256 = (bytes: string | Buffer) => createHash('sha256').update(bytes).digest()

function bigEndian(value: number, bytes: number): Buffer {
  const buffer = Buffer.alloc(bytes)
  buffer.writeUIntBE(value, 0, bytes)
  return buffer
}

/**
 * A P-256 passkey for this origin, with attestation `none`, as answered by a browser.
 * `counts`: reports a usage counter.
 */
export function createAuthenticator({ origin, counts = false }: { origin: string; counts?: boolean }) {
  const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const stranger = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const credentialId = randomBytes(16)
  const id = base64url(credentialId)
  let used = 0
  let handle: string | undefined

  const publicKey = () => {
    const { x = '', y = '' } = pair.publicKey.export({ format: 'jwk' })
    return encodeCbor(
      new Map<number, number | Buffer>([
        [cose.keyType, cose.ec2],
        [cose.algorithm, cose.es256],
        [cose.curve, cose.p256],
        [cose.x, Buffer.from(x, 'base64url')],
        [cose.y, Buffer.from(y, 'base64url')],
      ]),
    )
  }
  const clientData = (type: string, { challenge }: Request, deviations: Deviations) =>
    JSON.stringify({ type, challenge, origin: deviations.origin ?? origin, crossOrigin: false })
  const head = (rpId: string, flags: number, deviations: Deviations) => {
    if (counts) used++
    const verified = deviations.userVerified === false ? 0 : userVerified
    return Buffer.concat([
      sha256(deviations.rpId ?? rpId),
      Buffer.from([flags | userPresent | verified]),
      bigEndian(deviations.counter ?? used, 4),
    ])
  }
  const credential = { id, rawId: id, type: 'public-key', clientExtensionResults: {} } as const

  return {
    id,
    /** `navigator.credentials.create`. */
    create(options: CreationRequest, deviations: Deviations = {}) {
      handle = options.user.id
      const authData = Buffer.concat([
        head(options.rp.id, attested, deviations),
        Buffer.alloc(aaguidBytes),
        bigEndian(credentialId.length, 2),
        credentialId,
        publicKey(),
      ])
      const statement = new Map<string, unknown>([
        ['fmt', 'none'],
        ['attStmt', new Map()],
        ['authData', authData],
      ])
      return {
        ...credential,
        response: {
          clientDataJSON: base64url(clientData('webauthn.create', options, deviations)),
          attestationObject: base64url(encodeCbor(statement)),
          transports: ['internal'],
        },
      }
    },

    /** `navigator.credentials.get`. */
    get(options: AssertionRequest, deviations: Deviations = {}) {
      const client = clientData('webauthn.get', options, deviations)
      const authenticatorData = head(options.rpId, 0, deviations)
      const { privateKey } = deviations.forged ? stranger : pair
      const signature = sign('sha256', Buffer.concat([authenticatorData, sha256(client)]), privateKey)
      return {
        ...credential,
        response: {
          clientDataJSON: base64url(client),
          authenticatorData: base64url(authenticatorData),
          signature: base64url(signature),
          ...(handle !== undefined && { userHandle: handle }),
        },
      }
    },
  }
}
