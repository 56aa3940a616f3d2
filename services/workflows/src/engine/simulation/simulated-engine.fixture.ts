import { isDeepStrictEqual } from 'node:util'
import type { WorkflowDefinition } from '@opsplane/contracts'
import { compileProgram } from '../program.js'
import { canBecome, isFinal } from '../run-states.js'
import type { Signal } from '../signal.js'
import { summarizeRun } from '../summary.js'
import type { Task } from '../task.js'
import { listTasks } from '../tasks.js'
import type { Observed } from './endings.fixture.js'
import { EngineRun } from './engine-run.fixture.js'
import { evaluateTemplate } from './evaluate.fixture.js'
import type { SimulatedWorld } from './simulated-world.fixture.js'

/**
 * The engine in a simulated world. After each decision everything but the history is lost, and the run is
 * taken over.
 */
export class SimulatedEngine {
  now = 0
  readonly log: string[] = []
  readonly run: EngineRun
  /** Answers on their way, whether or not they are still requested. */
  #coming: { at: number; signal: Signal & { task: string } }[] = []
  readonly #seen = new Set<string>()

  constructor(
    definition: WorkflowDefinition,
    readonly world: SimulatedWorld,
  ) {
    this.run = new EngineRun(compileProgram(definition))
  }

  untilEnd(cancelAt: number | null): Observed {
    this.#send({ kind: 'start' })
    for (;;) {
      const { nextDue, status } = summarizeRun(this.run.memory)
      if (isFinal(status)) return this.#observed()
      const next = this.#coming.reduce((first, { at }) => Math.min(first, at), nextDue ?? Infinity)
      this.now = Math.min(next, cancelAt ?? Infinity)
      if (this.now === Infinity) throw new Error('the run is stuck')
      if (this.now === cancelAt) this.#send({ kind: 'cancel', by: 'usr_a', reason: null })
      else if (this.now === nextDue) while (this.#send({ kind: 'tick' }));
      else this.#arrive()
    }
  }

  /** Returns whether the retry is allowed. */
  retry(from: string | null, newKey: boolean): boolean {
    return this.#send({ kind: 'retry', by: 'usr_a', from, ...(newKey && { newKey }) })
  }

  #arrive(): void {
    const arriving = this.#coming.filter(({ at }) => at === this.now)
    this.#coming = this.#coming.filter(({ at }) => at > this.now)
    for (const { signal } of arriving) {
      const asked = this.run.tasks.has(signal.task)
      const changed = this.#send(signal)
      if (changed && !asked) throw new Error(`nothing asks for ${signal.task} any more`)
      if (this.#send(signal)) throw new Error(`${signal.task} is answered twice`)
    }
  }

  #send(signal: Signal): boolean {
    const { run, now } = this
    const before = summarizeRun(run.memory).status
    const entries = run.send(signal, now)
    const after = summarizeRun(run.memory).status
    if (entries.length > 0 && before !== after && !canBecome(before, after))
      throw new Error(`the table has no way from ${before} to ${after}`)
    for (const entry of entries)
      if (entry.kind === 'reminded') this.log.push(`${now} reminded ${entry.place}`)
    this.#crash()
    for (const task of run.tasks.values()) if (!this.#seen.has(task.id)) this.#take(task)
    return entries.length > 0
  }

  #crash(): void {
    const { run } = this
    // Crashes at every entry of a short history; for a long one this would take quadratic time.
    const { length } = run.recorded
    if (length > 30 && length % 10 > 0) return
    const lost = run.memory
    run.memory = run.refolded()
    const kept = { tasks: listTasks(run.program, lost), summary: summarizeRun(lost) }
    const found = { tasks: listTasks(run.program, run.memory), summary: summarizeRun(run.memory) }
    if (!isDeepStrictEqual(found, kept)) throw new Error('a run that is taken over is not as it was')
    if (!isDeepStrictEqual(new Set(run.tasks.keys()), new Set(found.tasks.map(({ id }) => id))))
      throw new Error('changes of tasks do not add up')
    run.takeTasks()
  }

  #take(task: Task): void {
    const { world, now } = this
    const { id, place } = task
    const name = `${place} ${this.run.memory.attempt}`
    this.#seen.add(id)
    switch (task.kind) {
      case 'evaluate': {
        const values = task.templates.map((template) => evaluateTemplate(template, task.scope))
        this.#answer(world.duration(`evaluate ${name}`), { kind: 'evaluated', task: id, values })
        break
      }
      case 'perform': {
        const { key, attempt, input } = task
        this.log.push(`${now} perform ${place} ${attempt} ${key} ${JSON.stringify(input)}`)
        const outcome = world.outcome(`${key} ${attempt}`)
        this.#answer(world.duration(`${key} ${attempt}`), { kind: 'performed', task: id, outcome })
        break
      }
      case 'start_run': {
        const { key, input, goesOn } = task
        const begun = goesOn
          ? `go on ${place} ${goesOn.runId}`
          : `start ${place} ${key} ${JSON.stringify(input)}`
        this.log.push(`${now} ${begun}`)
        const outcome = { ok: true, runId: `run of ${key}` } as const
        this.#answer(world.duration(`start ${key} ${this.run.memory.attempt}`), {
          kind: 'child_started',
          task: id,
          outcome,
        })
        break
      }
      case 'await':
        this.#await(task, name)
    }
  }

  #await({ id, waiting }: Task & { kind: 'await' }, name: string): void {
    const { world } = this
    if (waiting.for === 'event') {
      const found = world.event(name)
      if (found) this.#answer(found.afterMs, { kind: 'event', task: id, event: found.event })
    }
    if (waiting.for === 'run') {
      const key = `${waiting.runId.slice('run of '.length)} ${this.run.memory.attempt}`
      const outcome = world.outcome(`child ${key}`)
      this.#answer(world.duration(`child ${key}`), { kind: 'child_ended', task: id, outcome })
    }
    if (waiting.for === 'approval')
      for (const { afterMs, decision } of world.decisions(name))
        this.#answer(afterMs, { kind: 'decision', task: id, decision })
  }

  #answer(afterMs: number, signal: Signal & { task: string }): void {
    this.#coming.push({ at: this.now + afterMs, signal })
  }

  #observed(): Observed {
    const { status, output, error, endedAt } = summarizeRun(this.run.memory)
    if (status !== 'completed' && status !== 'failed' && status !== 'cancelled') throw new Error(status)
    return { status, output, error, endedAt: endedAt ?? Number.NaN, log: this.log }
  }
}
