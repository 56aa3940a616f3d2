import { expect, test } from '@jest/globals'
import { WorkflowDefinition } from '@opsplane/contracts'
import { compileProgram } from '../engine/program.js'
import type { Signal } from '../engine/signal.js'
import type { Definition } from '../engine/simulation/driving.fixture.js'
import { evaluateTemplate } from '../engine/simulation/evaluate.fixture.js'
import type { Evaluate } from './evaluate.js'
import { startEagerly } from './start-eagerly.js'

const at = 1_000
const identity = {
  ...{ id: 'run_a', workflowId: 'wf_a', workflowName: 'A', workflowVersion: 1, triggerType: 'manual' },
  tenant: { workspaceId: 'ws_a', environment: 'production' as const },
  ...{ parentRunId: null, parentWaits: false, concurrencyKey: null, queuedAt: new Date(at).toISOString() },
}
const origin = { trigger: { type: 'manual', id: null, at: identity.queuedAt }, event: null, input: { a: 1 } }
const runOf = (steps: Definition['steps']) => ({
  program: compileProgram(WorkflowDefinition.parse({ steps })),
  ...{ identity, origin },
})
const transform = (id: string, value: unknown) => ({ type: 'transform', id, value })
const answerOf = (task: Parameters<Evaluate>[1]): Signal => ({
  ...{ kind: 'evaluated', task: task.id },
  values: task.templates.map((template) => evaluateTemplate(template, task.scope)),
})
const kinds = ({ entries }: Awaited<ReturnType<typeof startEagerly>>) =>
  entries.map(({ entry, at: ms }) => [entry.kind, ms])
const nowMs = () => at + 5

test('an expression that is evaluated in time is written together with the run', async () => {
  const run = runOf([transform('one', '{{ 1 + 1 }}'), transform('two', '{{ steps.one.output }}')])
  const begun = await startEagerly(run, at, { nowMs, evaluate: async (_, task) => answerOf(task) })
  expect(kinds(begun)).toEqual([
    ['started', at],
    ['completed', at + 5],
  ])
  expect(begun.inFlight).toBeUndefined()
  expect(begun.folded.tasks()).toMatchObject([{ kind: 'evaluate', place: 'two' }])
})

test('the start waits only briefly for the first expressions, whose evaluation continues for the worker', async () => {
  const run = runOf([transform('one', '{{ 1 + 1 }}'), transform('two', 2)])
  let resolve = (_: Signal) => {}
  const later = new Promise<Signal>((done) => {
    resolve = done
  })
  const aborted: (AbortSignal | undefined)[] = []
  const begun = await startEagerly(run, at, {
    nowMs,
    evaluate: (_, __, signal) => {
      aborted.push(signal)
      return later
    },
  })
  expect(kinds(begun)).toEqual([['started', at]])
  const [task] = begun.folded.tasks()
  expect(begun.inFlight?.task).toBe(task?.id)
  if (task?.kind !== 'evaluate') throw new Error('the step is not asked for')
  resolve(answerOf(task))
  const signal = await begun.inFlight?.signal
  expect(signal && begun.folded.decide(signal, at + 50).map(({ entry }) => entry.kind)).toEqual(['completed'])
  begun.inFlight?.abort()
  expect(aborted.map((each) => each?.aborted)).toEqual([true])
})

test('a first step that ends the run is not written with it, and not evaluated twice', async () => {
  const begun = await startEagerly(runOf([transform('one', '{{ 1 + 1 }}')]), at, {
    nowMs,
    evaluate: async (_, task) => answerOf(task),
  })
  expect(kinds(begun)).toEqual([['started', at]])
  const signal = await begun.inFlight?.signal
  expect(signal && begun.folded.decide(signal, at).map(({ entry }) => entry.kind)).toEqual([
    'completed',
    'ended',
  ])
})
