import type { AuditCheckpoint, AuditProblem, AuditVerification, AuditVerifyRange } from '@opsplane/contracts'
import type { Drizzle } from '@opsplane/postgres'
import type { CursorCodec, Semaphore } from '@opsplane/runtime'
import { z } from 'zod'
import { type ChainEnd, emptyChain } from './chain.js'
import { type ChainState, readChainRows, readChainState, readCheckpoints } from './chain-queries.js'
import { checkRows, isMovedEvent } from './check-rows.js'
import type { CheckpointSigner } from './checkpoint.js'

export interface VerifyOptions {
  db: Drizzle
  signer: CheckpointSigner
  cursors: CursorCodec
  monotonicMs(): number
  /** Maximum duration of one verification, in milliseconds. */
  budgetMs: number
  /** Shared by the verifications of all workspaces and acquired for each window. */
  semaphore: Semaphore
}

/** A checkpoint submitted by the client, with the result of its signature check. */
export interface SubmittedCheckpoint {
  checkpoint: AuditCheckpoint
  signature: 'valid' | 'unknown_key'
}

export type Verify = (
  workspaceId: string,
  range: AuditVerifyRange,
  submittedCheckpoint?: SubmittedCheckpoint,
  /** Aborts when the client has disconnected. */
  signal?: AbortSignal,
) => Promise<AuditVerification>

const windowSize = 100
/** Number of positions searched for a moved event. */
const movedWithin = 1_000

/** Verifies the chain of a workspace, window by window, until a problem is found or the time budget is used up. */
export function createVerify(options: VerifyOptions): Verify {
  const { db, signer, cursors, monotonicMs, budgetMs, semaphore } = options

  return async (workspaceId, range, submittedCheckpoint, signal) => {
    const deadlineMs = monotonicMs() + budgetMs
    const binding = `${workspaceId}|verifyAudit`
    const state = await readChainState(db, workspaceId)
    const walk = await startWalk(options, workspaceId, range, binding)
    const goal = Math.min(walk.to ?? Number.MAX_SAFE_INTEGER, knownEnd(state, submittedCheckpoint))
    const firstSeq = walk.end.seq + 1
    let { end, problem } = walk
    let checkpointsChecked = 0

    /** Verifies one window. Returns false if the time budget is used up; the first window is always verified. */
    const step = async (): Promise<boolean> => {
      const over = monotonicMs() >= deadlineMs || signal?.aborted === true
      if (end.seq >= firstSeq && over) return false
      const [from, to] = [end.seq + 1, Math.min(end.seq + windowSize, goal)]
      const rows = await readChainRows(db, workspaceId, from, to)
      const checkpoints = await readCheckpoints(db, workspaceId, from, to)
      if (submittedCheckpoint) checkpoints.push(submittedCheckpoint.checkpoint)
      const outcome = checkRows(end, rows, { head: state.head, checkpoints, signatureOf: signer.check })
      end = outcome.end
      checkpointsChecked += checkpoints.filter(({ seq }) => seq >= from && seq <= end.seq).length
      problem = outcome.problem ?? (end.seq < to ? gap(end.seq + 1, state) : null)
      if (problem?.kind !== 'edited') return true
      const [found, ...later] = await readChainRows(db, workspaceId, end.seq + 1, end.seq + movedWithin)
      if (found && isMovedEvent(end, found, later)) problem = { ...problem, kind: 'reordered' }
      return true
    }

    let complete = true
    while (complete && problem === null && end.seq < goal) complete = await semaphore(step)
    if (complete && problem === null && walk.to === undefined) {
      problem = await wrongEnd(db, workspaceId, state)
    }
    const checked = end.seq - firstSeq + 1
    return {
      valid: problem === null,
      complete,
      checked,
      firstSeq: checked > 0 ? firstSeq : null,
      lastSeq: checked > 0 ? end.seq : null,
      head: state.head,
      checkpoint: state.checkpoint,
      checkpointsChecked,
      givenSignature: submittedCheckpoint?.signature ?? null,
      problem,
      nextCursor: complete ? null : cursors.encode([end.seq, end.hash, walk.to ?? null], binding),
    }
  }
}

const Position = z.tuple([z.int(), z.string(), z.int().nullable()])

interface Walk {
  /** The position the verification continues from. */
  end: ChainEnd
  to: number | undefined
  problem: AuditProblem | null
}

async function startWalk(
  { db, cursors }: VerifyOptions,
  workspaceId: string,
  { from = 1, to, after }: AuditVerifyRange,
  binding: string,
): Promise<Walk> {
  if (after !== undefined) {
    const [seq, hash, goal] = Position.parse(cursors.decode(after, binding))
    return { end: { seq, hash }, to: goal ?? undefined, problem: null }
  }
  if (from === 1) return { end: emptyChain, to, problem: null }
  const [before] = await readChainRows(db, workspaceId, from - 1, from - 1)
  if (before) return { end: { seq: before.seq, hash: before.hash }, to, problem: null }
  const state = await readChainState(db, workspaceId)
  const isPastEnd = from - 1 > knownEnd(state)
  const end = { ...emptyChain, seq: from - 1 }
  // A range beyond the end of the chain contains nothing to check.
  return { end, to: isPastEnd ? 0 : to, problem: isPastEnd ? null : gap(from - 1, state) }
}

/** The position up to which events must exist, according to the head, the newest checkpoint and the submitted one. */
function knownEnd(
  { head, checkpoint, lastSeq }: ChainState,
  submittedCheckpoint?: SubmittedCheckpoint,
): number {
  return Math.max(head?.seq ?? lastSeq, checkpoint?.seq ?? 0, submittedCheckpoint?.checkpoint.seq ?? 0)
}

function gap(seq: number, { lastSeq }: ChainState): AuditProblem {
  return { seq, kind: seq > lastSeq ? 'truncated' : 'deleted', eventId: null }
}

/** Checks that a chain ends at the position of its head. */
async function wrongEnd(
  db: Drizzle,
  workspaceId: string,
  { head, lastSeq }: ChainState,
): Promise<AuditProblem | null> {
  if (head === null) return lastSeq === 0 ? null : { seq: lastSeq + 1, kind: 'truncated', eventId: null }
  if (lastSeq <= head.seq) return null
  const [row] = await readChainRows(db, workspaceId, head.seq + 1, lastSeq)
  return { seq: row?.seq ?? lastSeq, kind: 'inserted', eventId: row?.id ?? null }
}
