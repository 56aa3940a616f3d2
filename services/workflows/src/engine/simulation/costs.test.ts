import { expect, test } from '@jest/globals'
import { WorkflowDefinition } from '@opsplane/contracts'
import { decide } from '../decide.js'
import { fold } from '../fold.js'
import { newRun } from '../memory.js'
import { compileProgram } from '../program.js'
import type { Signal } from '../signal.js'
import { computeStatus } from '../summary.js'
import type { Task } from '../task.js'
import { drainTaskChanges } from '../tasks.js'
import { context } from './engine-run.fixture.js'

type Definition = Parameters<typeof WorkflowDefinition.parse>[0]

/** Runs a definition to its end with all tasks succeeding immediately. Returns the costs. */
function run(definition: Definition, items: readonly unknown[] = []) {
  const program = compileProgram(WorkflowDefinition.parse(definition))
  const memory = newRun({ ...context, input: { items } })
  const found = { entries: 0, tasks: 0, scopes: 0, maxLive: 0, memory }
  const send = (signal: Signal) => {
    for (const entry of decide(program, memory, signal, { now: 0 }))
      fold(program, memory, { seq: ++found.entries, at: 0, bytes: 0, entry })
    const { added, removed } = drainTaskChanges(program, memory)
    found.tasks += added.length + removed.length
    found.maxLive = Math.max(found.maxLive, memory.live.size)
    return added
  }
  const answer = (task: Task): Signal => {
    if (task.kind !== 'evaluate')
      return { kind: 'performed', task: task.id, outcome: { ok: true, output: task.place } }
    found.scopes += JSON.stringify(task.scope).length
    const value = task.place === 'each' ? items : task.place
    return { kind: 'evaluated', task: task.id, values: [{ ok: true, value }] }
  }
  const asked = send({ kind: 'start' })
  for (let task = asked.shift(); task; task = asked.shift()) asked.push(...send(answer(task)))
  expect(computeStatus(memory)).toBe('completed')
  return { ...found, operations: memory.meter.operations }
}

const forEach = (concurrency: number): Definition => ({
  steps: [
    { type: 'transform', id: 'large', value: 'large' },
    {
      ...{ type: 'for_each', id: 'each', items: '{{ input.items }}', maxItems: 10_000, concurrency },
      steps: [
        { type: 'http', id: 'call', url: '{{ item }}' },
        { type: 'transform', id: 'seen', value: { call: '{{ steps.call.output }}', sum: '{{ index + 1 }}' } },
      ],
    },
  ],
})

test.each([1, 50])(
  'a for_each of 10,000 items, %i at a time, costs at most ten times as much as one of 1,000',
  (concurrency) => {
    const itemsOf = (length: number) => Array.from({ length }, (_, index) => `https://example.com/${index}`)
    const [small, large] = [
      run(forEach(concurrency), itemsOf(1_000)),
      run(forEach(concurrency), itemsOf(10_000)),
    ]
    expect(large.operations / small.operations).toBeLessThan(10.1)
    expect(large.operations / large.entries).toBeLessThan(10)
    expect(large.tasks / small.tasks).toBeLessThan(10.1)
    expect(large.scopes / small.scopes).toBeLessThan(10.5)
    expect(large.maxLive).toBe(concurrency)
    expect(large.memory.ended).toMatchObject({ output: { length: 10_000 } })
    expect([...large.memory.scope.done.keys()]).toEqual(['large', 'each'])
  },
)

test('the cost of nested steps grows linearly with their depth', () => {
  const nested = (depth: number): Definition => ({
    steps: [...Array(depth).keys()].reduceRight<object[]>(
      (steps, level) => [
        { type: 'parallel', id: `p${level}`, branches: [{ name: 'only', steps }] },
        { type: 'transform', id: `after_${level}`, value: '{{ steps.first.output }}' },
      ],
      [{ type: 'transform', id: 'first', value: 1 }],
    ),
  })
  const [small, large] = [run(nested(10)), run(nested(20))]
  expect(large.operations / small.operations).toBeLessThan(2.1)
})

test('the cost of a sequence of steps grows linearly when each step reads the previous one', () => {
  const row = (length: number): Definition => ({
    steps: Array.from({ length }, (_, index) => ({
      ...{ type: 'transform', id: `s${index}`, value: `{{ steps.s${index - 1}.output & "!" }}` },
    })),
  })
  const [small, large] = [run(row(20)), run(row(200))]
  expect(large.operations / small.operations).toBeLessThan(10.1)
  expect(large.scopes / small.scopes).toBeLessThan(11)
})
