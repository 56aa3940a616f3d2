import { WorkflowDefinition } from '@opsplane/contracts'
import type { z } from 'zod'
import { compileProgram } from '../program.js'
import type { Signal } from '../signal.js'
import { summarizeRun } from '../summary.js'
import type { Task } from '../task.js'
import { EngineRun } from './engine-run.fixture.js'
import { evaluateTemplate } from './evaluate.fixture.js'

/** A definition as written by users. */
export type Definition = Omit<z.input<typeof WorkflowDefinition>, 'steps' | 'onFailure'> &
  Record<'steps', readonly object[]> &
  Partial<Record<'onFailure', readonly object[]>>

/** A run that has left the queue. */
export function startRun(definition: Definition, pins: Record<string, unknown> = {}): EngineRun {
  const run = new EngineRun(compileProgram(WorkflowDefinition.parse(definition), { pins }))
  run.send({ kind: 'start' }, 0)
  return run
}

/** The task at a place. */
export function taskAt(run: EngineRun, place: string): Task {
  const task = [...run.tasks.values()].find((each) => each.place === place)
  if (!task) throw new Error(`nothing is asked for at ${place}`)
  return task
}

/** A successful answer to a task. */
export function goodAnswer(task: Task): Signal & { task: string } {
  const { id } = task
  switch (task.kind) {
    case 'evaluate':
      return {
        ...{ kind: 'evaluated', task: id },
        values: task.templates.map((template) => evaluateTemplate(template, task.scope)),
      }
    case 'perform':
      return { kind: 'performed', task: id, outcome: { ok: true, output: `output of ${task.place}` } }
    case 'start_run':
      return { kind: 'child_started', task: id, outcome: { ok: true, runId: 'run_child' } }
    case 'await':
      if (task.waiting.for === 'event')
        return { kind: 'event', task: id, event: { type: 'incident.created' } }
      if (task.waiting.for === 'run')
        return { kind: 'child_ended', task: id, outcome: { ok: true, output: 'child' } }
      return approval(task, 'usr_a')
  }
}

export const approval = ({ id }: Task, by: string): Signal & { task: string } => ({
  ...{ kind: 'decision', task: id },
  decision: { by, decision: 'approve', comment: null },
})

/** Answers the task at a place successfully. */
export const answer = (run: EngineRun, place: string, now = 0) =>
  run.send(goodAnswer(taskAt(run, place)), now)

/** Answers all tasks successfully until the run ends. */
export function finish(run: EngineRun, now = 0): void {
  for (let rounds = 0; run.memory.stage === 'active'; rounds++) {
    if (rounds > 100) throw new Error('the run does not end')
    const changed = [...run.tasks.values()].some(
      (task) =>
        run.send(goodAnswer(task), now).length + run.send(approval(task, `usr_${rounds}`), now).length > 0,
    )
    if (!changed) run.send({ kind: 'tick' }, summarizeRun(run.memory).nextDue ?? now)
  }
}
