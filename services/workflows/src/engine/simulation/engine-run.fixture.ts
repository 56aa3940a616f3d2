import { decide, type HistoryLimits } from '../decide.js'
import { fold } from '../fold.js'
import type { Entry, Recorded } from '../history.js'
import { newRun, type RunContext, type RunMemory } from '../memory.js'
import type { Program } from '../program.js'
import type { Signal } from '../signal.js'
import type { Task } from '../task.js'
import { drainTaskChanges } from '../tasks.js'

export const context: RunContext = {
  runId: 'run_1',
  workflowId: 'wf_1',
  version: 1,
  trigger: { type: 'manual', id: null, at: '1970-01-01T00:00:00.000Z' },
  event: null,
  input: { list: ['a', 'b', 'c'], none: [], yes: true, no: false },
}

/** A run of the engine in isolation: accepts signals, lists tasks, keeps the history. */
export class EngineRun {
  readonly recorded: Recorded[] = []
  /** Tasks currently requested. */
  readonly tasks = new Map<string, Task>()
  memory: RunMemory

  constructor(
    readonly program: Program,
    readonly limits?: HistoryLimits,
  ) {
    this.memory = newRun(context)
  }

  /** Decides on a signal, records the entries and folds them. Returns the entries. */
  send(signal: Signal, now: number): Entry[] {
    const { limits } = this
    const entries = decide(this.program, this.memory, signal, { now, ...(limits && { limits }) })
    for (const entry of entries) this.record(entry, now)
    return entries
  }

  /** Records an entry of the history, regardless of which engine decided it. */
  record(entry: Entry, now: number): void {
    const recorded = { seq: this.recorded.length + 1, at: now, bytes: JSON.stringify(entry).length, entry }
    this.recorded.push(recorded)
    fold(this.program, this.memory, throughJson(recorded))
    this.takeTasks()
  }

  takeTasks(): void {
    const { added, removed } = drainTaskChanges(this.program, this.memory)
    for (const id of removed) this.tasks.delete(id)
    for (const task of added) this.tasks.set(task.id, task)
  }

  /** The run as loaded by another worker after a crash. */
  refolded(): RunMemory {
    const memory = newRun(context)
    for (const recorded of this.recorded) fold(this.program, memory, throughJson(recorded))
    return memory
  }
}

/** The entry as read back from the journal. */
const throughJson = (recorded: Recorded): Recorded => JSON.parse(JSON.stringify(recorded))
