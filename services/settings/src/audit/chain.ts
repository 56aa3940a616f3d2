import { canonicalJson } from '@opsplane/contracts'
import { sha256Hex } from '@opsplane/runtime'

/** The hash before the first event of every chain. */
export const genesisHash = '0'.repeat(64)

/** The last position of a chain and its hash. */
export interface ChainEnd {
  seq: number
  hash: string
}

export const emptyChain: ChainEnd = { seq: 0, hash: genesisHash }

/** The link for the event that follows `previous`. The event is hashed exactly as stored, whatever its age. */
export function nextLink(previous: ChainEnd, event: unknown): ChainEnd {
  const seq = previous.seq + 1
  return { seq, hash: linkHash(previous.hash, seq, event) }
}

/** SHA-256 in hex over the canonical JSON of the previous hash, `seq` and the event. */
export function linkHash(previousHash: string, seq: number, event: unknown): string {
  return sha256Hex(canonicalJson([previousHash, seq, event]))
}
