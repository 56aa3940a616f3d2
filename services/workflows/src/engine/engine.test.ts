import { describe, expect, test } from '@jest/globals'
import { WorkflowDefinition } from '@opsplane/contracts'
import type { z } from 'zod'
import { compileProgram } from './program.js'
import { EngineRun } from './proof/engine-run.fixture.js'
import { evaluateTemplate } from './proof/evaluate.fixture.js'
import { summaryOf } from './summary.js'

type Steps = z.input<typeof WorkflowDefinition>['steps']

function start(steps: Steps, rest: Partial<z.input<typeof WorkflowDefinition>> = {}) {
  const run = new EngineRun(compileProgram(WorkflowDefinition.parse({ steps, ...rest })))
  run.send({ kind: 'start' }, 0)
  return run
}

/** Answers all tasks `evaluate`, until there are none. */
function evaluateAll(run: EngineRun, now = 0) {
  for (;;) {
    const task = [...run.tasks.values()].find(({ kind }) => kind === 'evaluate')
    if (task?.kind !== 'evaluate') return
    const values = task.templates.map((template) => evaluateTemplate(template, task.scope))
    run.send({ kind: 'evaluated', task: task.id, values }, now)
  }
}

const kinds = (run: EngineRun) => run.recorded.map(({ entry }) => entry.kind)

describe('a run', () => {
  test('of three transforms is an entry for each, the last with the end', () => {
    const run = start([
      { type: 'transform', id: 'a', value: { list: '{{ input.list }}' } },
      { type: 'transform', id: 'b', value: '{{ steps.a.output.list }}' },
      { type: 'transform', id: 'c', value: ['{{ steps.b.output }}'] },
    ])
    evaluateAll(run)
    expect(kinds(run)).toEqual(['started', 'completed', 'completed', 'completed', 'ended'])
    expect(summaryOf(run.memory)).toMatchObject({
      status: 'completed',
      output: [['a', 'b', 'c']],
      error: null,
    })
  })
})
