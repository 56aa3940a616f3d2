import { assertNever } from '@opsplane/contracts'
import { enterState } from './active-steps.js'
import type { Entry, Place, Recorded } from './history.js'
import type { RunMemory, StepRun } from './memory.js'
import { outermostClosing } from './moves.js'
import type { Program } from './program.js'
import { forget, reopen } from './reopen.js'
import { abandonAll, openContainer, openPart, setDeadline } from './rows.js'
import { endPart, settle } from './settle.js'
import { findEventId } from './values.js'

/**
 * Applies a recorded entry: changes the memory in place and returns it. Throws if the history does not fit the program,
 * for example because an entry is missing.
 */
export function fold(program: Program, memory: RunMemory, { seq, at, bytes, entry }: Recorded): RunMemory {
  if (seq !== memory.seq + 1) throw new Error(`entry ${seq} does not follow ${memory.seq}`)
  memory.seq = seq
  memory.at = at
  memory.bytes += bytes
  memory.meter.operations += 1
  if ('secrets' in entry) for (const secret of entry.secrets ?? []) memory.secrets.add(secret)
  apply(program, memory, entry)
  return memory
}

function apply(program: Program, memory: RunMemory, entry: Entry): void {
  switch (entry.kind) {
    case 'started':
      start(program, memory)
      break
    case 'cancelling':
      break
    case 'retried':
      forget(program, memory, entry)
      break
    case 'ended':
      end(memory, entry)
      break
    case 'failed':
      if (entry.place === '') expire(program, memory, entry)
      else applyToStep(program, memory, entry)
      break
    default:
      applyToStep(program, memory, entry)
  }
}

function start(program: Program, memory: RunMemory): void {
  memory.stage = 'active'
  memory.startedAt ??= memory.at
  if (memory.main) {
    setDeadline(memory, memory.at + program.timeoutMs)
    reopen(program, memory, memory.main)
  } else openPart(program, memory, 'main')
}

function end(memory: RunMemory, entry: Entry & { kind: 'ended' }): void {
  abandonAll(memory)
  setDeadline(memory, null)
  memory.stage = 'ended'
  memory.ended = entry
  memory.endedAt = memory.at
}

/** The active part has exceeded its time limit. */
function expire(program: Program, memory: RunMemory, { error, place }: Entry & { kind: 'failed' }): void {
  abandonAll(memory)
  const part = memory.onFailure ?? memory.main
  if (part) endPart(program, memory, part, { kind: 'failed', error, place })
}

type StepEntry = Extract<Entry, { place: Place }>

function applyToStep(program: Program, memory: RunMemory, entry: StepEntry): void {
  const step = memory.live.get(entry.place)
  if (!step) throw new Error(`no step is active at ${entry.place}, which has an entry ${entry.kind}`)
  switch (entry.kind) {
    case 'begun':
      begin(memory, step, entry.input)
      break
    case 'attempt_failed':
    case 'retry_due':
      reattempt(memory, step, entry)
      break
    case 'waiting':
      enterState(memory, step, { kind: 'waiting', waiting: entry.waiting, decisions: [] })
      if (outermostClosing(step.row.frame)) settleCut(program, memory, step)
      break
    case 'decided':
      if (step.state.kind === 'waiting') step.state.decisions.push(entry.decision)
      break
    case 'reminded':
      remindNext(memory, step, entry.remindAt)
      break
    case 'chosen':
      choose(program, memory, step, entry.list)
      break
    case 'items':
      iterate(program, memory, step, entry.items)
      break
    case 'completed': {
      markEventConsumed(memory, step, entry.output)
      const kind = step.node.step.type === 'stop' ? 'stopped' : 'completed'
      settle(program, memory, step, { kind, output: entry.output })
      break
    }
    case 'failed':
      settle(program, memory, step, { kind: 'failed', error: entry.error, place: entry.place })
      break
    default:
      assertNever(entry)
  }
}

function begin(memory: RunMemory, step: StepRun, input: unknown): void {
  // Restarted by an earlier version, which continued no steps: its key contains the current attempt.
  if (step.state.kind !== 'ready') step.born = memory.attempt
  if (step.node.step.type === 'workflow')
    enterState(memory, step, { kind: 'starting', input, childRunId: null })
  else enterState(memory, step, { kind: 'performing', input, attempt: 1 })
}

function reattempt(
  memory: RunMemory,
  step: StepRun,
  entry: Entry & { kind: 'attempt_failed' | 'retry_due' },
): void {
  const { state } = step
  if (entry.kind === 'retry_due' && state.kind === 'delayed')
    enterState(memory, step, { kind: 'performing', input: state.input, attempt: entry.attempt })
  if (entry.kind !== 'attempt_failed' || state.kind !== 'performing' || entry.retryAt === null) return
  const { input } = state
  enterState(memory, step, { kind: 'delayed', input, attempt: entry.attempt + 1, dueAt: entry.retryAt })
}

/** Marks the event a step waited for as consumed, so that no other step receives it. */
function markEventConsumed({ taken }: RunMemory, { state, place }: StepRun, output: unknown): void {
  const id = findEventId(output)
  if (state.kind === 'waiting' && state.waiting.for === 'event' && id !== null) taken.set(id, place)
}

/** The run a step waits for was started while the surrounding frame is being closed. */
function settleCut(program: Program, memory: RunMemory, step: StepRun): void {
  if (step.state.kind === 'waiting' && step.state.waiting.for === 'run')
    memory.abandonedRuns.add(step.state.waiting.runId)
  settle(program, memory, step, { kind: 'cut' })
}

function remindNext(memory: RunMemory, step: StepRun, remindAt: number | null): void {
  const { state } = step
  if (state.kind !== 'waiting' || state.waiting.for !== 'approval') return
  enterState(memory, step, { ...state, waiting: { ...state.waiting, remindAt } })
}

function choose(program: Program, memory: RunMemory, step: StepRun, key: string | null): void {
  const lists = step.node.lists.filter((list) => list.key === key)
  if (lists.length > 0) openContainer(program, memory, step, { lists, items: null, limit: 1 })
  else settle(program, memory, step, { kind: 'completed', output: null })
}

function iterate(program: Program, memory: RunMemory, step: StepRun, items: readonly unknown[]): void {
  const { step: definition, lists } = step.node
  if (definition.type !== 'for_each') throw new Error(`${step.place} has items and is no for_each`)
  if (items.length > 0) openContainer(program, memory, step, { lists, items, limit: definition.concurrency })
  else settle(program, memory, step, { kind: 'completed', output: [] })
}
