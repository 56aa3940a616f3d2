import { canonicalJson } from '@opsplane/contracts'
import { sha256Hex } from '@opsplane/runtime'

/** The hash before the first event of every chain. */
export const genesisHash = '0'.repeat(64)

/** The end of a chain. */
export interface ChainEnd {
  seq: number
  hash: string
}

export const emptyChain: ChainEnd = { seq: 0, hash: genesisHash }

/** The hash of the event that comes after `previous`. The event is hashed as it is kept, also when it is an old one. */
export function nextLink(previous: ChainEnd, event: unknown): ChainEnd {
  const seq = previous.seq + 1
  return { seq, hash: linkHash(previous.hash, seq, event) }
}

/** SHA-256 over the canonical JSON of hash before, seq and event, in hex. */
export function linkHash(previousHash: string, seq: number, event: unknown): string {
  return sha256Hex(canonicalJson([previousHash, seq, event]))
}
