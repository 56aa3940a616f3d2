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

/** A run of the engine without anything around it: signals in, tasks out, its history kept. */
export class EngineRun {
  readonly recorded: Recorded[] = []
  /** Those asked for. */
  readonly tasks = new Map<string, Task>()
  memory: RunMemory

  constructor(
    readonly program: Program,
    readonly limits?: HistoryLimits,
  ) {
    this.memory = newRun(context)
  }

  /** What was decided, which is recorded and folded in. */
  send(signal: Signal, now: number): Entry[] {
    const { limits } = this
    const entries = decide(this.program, this.memory, signal, { now, ...(limits && { limits }) })
    for (const entry of entries) this.record(entry, now)
    return entries
  }

  /** As it is in the history, whichever engine decided it. */
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

  /** The run as another worker loads it after a crash. */
  refolded(): RunMemory {
    const memory = newRun(context)
    for (const recorded of this.recorded) fold(this.program, memory, throughJson(recorded))
    return memory
  }
}

/** As the journal gives it back. */
const throughJson = (recorded: Recorded): Recorded => JSON.parse(JSON.stringify(recorded))
