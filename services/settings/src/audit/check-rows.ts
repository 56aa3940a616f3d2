import type { AuditCheckpoint, AuditProblem } from '@opsplane/contracts'
import { type ChainEnd, linkHash, nextLink } from './chain.js'
import type { ChainRow } from './chain-queries.js'
import type { SignatureCheck } from './checkpoint.js'
import { columnsMatchEvent } from './event-columns.js'

/** Data that must match the chain in addition to its own rows. */
export interface ChainAnchors {
  head: ChainEnd | null
  checkpoints: readonly AuditCheckpoint[]
  signatureOf(checkpoint: AuditCheckpoint): SignatureCheck
}

export interface RowsOutcome {
  /** The last valid row. */
  end: ChainEnd
  problem: AuditProblem | null
}

/** Verifies the chain from `end` through rows that are sorted by `seq`. */
export function checkRows(end: ChainEnd, rows: readonly ChainRow[], marks: ChainAnchors): RowsOutcome {
  let verifiedEnd = end
  for (const row of rows) {
    const problem = checkRow(verifiedEnd, row, marks)
    if (problem) return { end: verifiedEnd, problem }
    verifiedEnd = { seq: row.seq, hash: row.hash }
  }
  return { end: verifiedEnd, problem: null }
}

function checkRow(previous: ChainEnd, row: ChainRow, marks: ChainAnchors): AuditProblem | null {
  const { seq, hash } = nextLink(previous, row.state)
  if (row.seq > seq) return { seq, kind: 'deleted', eventId: null }
  const problem = (kind: AuditProblem['kind']) => ({ seq: row.seq, kind, eventId: row.id })
  if (row.seq < seq) return problem('inserted')
  if (row.hash !== hash || !columnsMatchEvent(row)) return problem('edited')
  const { head, checkpoints, signatureOf } = marks
  for (const checkpoint of checkpoints) {
    if (checkpoint.seq !== seq) continue
    const fits = checkpoint.hash === hash && signatureOf(checkpoint) !== 'invalid'
    if (!fits) return problem('checkpoint_mismatch')
  }
  return head?.seq === seq && head.hash !== hash ? problem('edited') : null
}

/**
 * Whether the event expected after `previous` is stored in a later row: the hash it would have at the expected
 * position equals its stored hash, or the hash of the row found there.
 */
export function isMovedEvent(previous: ChainEnd, found: ChainRow, later: readonly ChainRow[]): boolean {
  const seq = previous.seq + 1
  return later.some(({ state, hash }) => {
    const here = linkHash(previous.hash, seq, state)
    return here === hash || here === found.hash
  })
}
