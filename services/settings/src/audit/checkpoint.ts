import { createHash, createPrivateKey, createPublicKey, sign, verify } from 'node:crypto'
import {
  type AuditCheckpoint,
  type AuditCheckpointContent,
  type AuditCheckpointKey,
  canonicalJson,
} from '@opsplane/contracts'

export type SignatureCheck = 'valid' | 'unknown_key' | 'invalid'

/** Signs the ends of chains with a dedicated key, which is not part of the service's identity. */
export interface CheckpointSigner {
  key: AuditCheckpointKey
  sign(content: AuditCheckpointContent): AuditCheckpoint
  check(checkpoint: AuditCheckpoint): SignatureCheck
}

/** Domain separation, in case the key is ever used for other signatures. */
const purpose = 'opsplane-audit-checkpoint-v1\n'

function signedBytes({ workspaceId, seq, hash, at }: AuditCheckpointContent): Buffer {
  return Buffer.from(purpose + canonicalJson({ workspaceId, seq, hash, at }))
}

/** @param privateKey - Ed25519, PKCS#8 DER in base64 */
export function createCheckpointSigner(privateKey: string): CheckpointSigner {
  const secret = createPrivateKey({ key: Buffer.from(privateKey, 'base64'), format: 'der', type: 'pkcs8' })
  const open = createPublicKey(secret)
  const der = open.export({ format: 'der', type: 'spki' })
  const keyId = createHash('sha256').update(der).digest('hex').slice(0, 16)

  return {
    key: { keyId, algorithm: 'Ed25519', publicKey: der.toString('base64') },
    sign: (content) => ({
      ...content,
      signature: sign(null, signedBytes(content), secret).toString('base64'),
      keyId,
    }),
    check(checkpoint) {
      if (checkpoint.keyId !== keyId) return 'unknown_key'
      const signature = Buffer.from(checkpoint.signature, 'base64')
      return verify(null, signedBytes(checkpoint), open, signature) ? 'valid' : 'invalid'
    },
  }
}
