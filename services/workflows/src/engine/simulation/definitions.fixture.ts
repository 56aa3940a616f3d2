import { WorkflowDefinition } from '@opsplane/contracts'
import fc from 'fast-check'

type Json = Record<string, unknown>
/** Creates a step, given its id and a way to refer to other steps. */
type Sketch = (labels: Labels) => Json
interface Labels {
  id(): string
  /** An expression that reads the output, status or error of any step. */
  read(which: number, field: string): string
}

const which = fc.nat({ max: 1_000 })
const field = fc.constantFrom('output', 'status', 'error.code')
const reading = fc.record({ which, field })
const seconds = (max: number) => fc.integer({ min: 1, max })
const retry = fc.record({
  attempts: fc.integer({ min: 1, max: 4 }),
  strategy: fc.constantFrom('fixed', 'exponential'),
  delaySeconds: seconds(3_000),
  maxDelaySeconds: seconds(9_000),
})
const common = { continueOnError: fc.boolean() }

const sketch = <Shape>(
  shape: { [Key in keyof Shape]: fc.Arbitrary<Shape[Key]> },
  make: (given: Shape, labels: Labels) => Json,
) =>
  fc.record(shape).map(
    (given): Sketch =>
      (labels) => {
        const id = labels.id()
        return { id, ...make(given as Shape, labels) }
      },
  )

const effect = sketch(
  {
    ...common,
    retry: fc.option(retry, { nil: undefined }),
    reading,
    kind: fc.constantFrom('http', 'api', 'connector', 'artifact', 'publish'),
  },
  ({ reading: { which, field }, kind, ...rest }, { read }) => {
    const value = { seen: read(which, field), round: ['{{ item }}', '{{ index }}'] }
    switch (kind) {
      case 'http':
        return { type: kind, ...rest, url: 'https://example.com', query: value, body: read(which + 1, field) }
      case 'api':
        return { type: kind, ...rest, operation: 'getIncident', params: value }
      case 'connector':
        return {
          type: kind,
          ...rest,
          connector: 'con_01JZ8Q4D3N5W7X9Y2B4C6D8E0F',
          action: 'call',
          input: value,
        }
      case 'artifact':
        return { type: kind, ...rest, artifact: 'enrich', input: value }
      default:
        return { type: kind, ...rest, topic: 'orders', eventType: 'made', payload: value }
    }
  },
)
const transform = sketch({ reading }, ({ reading: { which, field } }, { read }) => ({
  type: 'transform',
  value: { seen: read(which, field), failure: '{{ failure.code }}' },
}))
const workflow = sketch({ ...common, wait: fc.boolean(), which }, ({ which, ...rest }, { read }) => ({
  ...{ type: 'workflow', workflow: 'wf_01JZ8Q4D3N5W7X9Y2B4C6D8E0F', input: read(which, 'output') },
  ...rest,
}))
const wait = sketch(
  { ...common, kind: fc.constantFrom('seconds', 'until', 'event'), seconds: seconds(20_000) },
  ({ kind, seconds, ...rest }) => {
    if (kind === 'seconds') return { type: 'wait', ...rest, seconds: seconds - 1 }
    if (kind === 'until') return { type: 'wait', ...rest, until: new Date(seconds * 2_000).toISOString() }
    return { type: 'wait', ...rest, event: { types: ['incident.created'], timeoutSeconds: seconds } }
  },
)
const approval = sketch(
  {
    ...common,
    quorum: fc.integer({ min: 1, max: 3 }),
    deadlineSeconds: seconds(20_000),
    reminderSeconds: fc.option(fc.integer({ min: 2_000, max: 9_000 }), { nil: undefined }),
  },
  (given) => ({ type: 'approval', title: 'Go on?', approvers: { roles: ['admin'] }, ...given }),
)
const stop = sketch({ which }, ({ which }, { read }) => ({ type: 'stop', output: read(which, 'output') }))
const fail = sketch(common, (given) => ({ type: 'fail', message: 'failed_by_workflow', ...given }))

const leaf = fc.oneof(
  { weight: 8, arbitrary: effect },
  { weight: 4, arbitrary: transform },
  { weight: 2, arbitrary: workflow },
  { weight: 2, arbitrary: wait },
  { weight: 2, arbitrary: approval },
  { weight: 1, arbitrary: fail },
  { weight: 1, arbitrary: stop },
)

const concurrency = fc.integer({ min: 1, max: 3 })
const made = (steps: readonly Sketch[], labels: Labels) => steps.map((make) => make(labels))
const condition = fc.oneof(fc.constantFrom('{{ input.yes }}', '{{ input.no }}'), which)
const conditionOf = (given: string | number, { read }: Labels) =>
  typeof given === 'string' ? given : read(given, 'status')

type Lists = fc.Arbitrary<Sketch[]>

const branch = (steps: Lists) =>
  sketch(
    { ...common, condition, steps: steps, other: fc.option(steps, { nil: undefined }) },
    ({ continueOnError, condition, steps, other }, labels) => ({
      ...{ type: 'branch', continueOnError, if: conditionOf(condition, labels) },
      then: made(steps, labels),
      ...(other && { else: made(other, labels) }),
    }),
  )
const choice = (steps: Lists) =>
  sketch(
    {
      ...common,
      condition,
      lists: fc.array(steps, { minLength: 1, maxLength: 2 }),
      rest: fc.boolean(),
    },
    ({ continueOnError, condition, lists, rest }, labels) => ({
      ...{ type: 'switch', continueOnError, value: conditionOf(condition, labels) },
      cases: lists.map((steps, index) => ({
        equals: [true, 'completed'][index],
        steps: made(steps, labels),
      })),
      ...(rest && { default: [{ type: 'transform', id: labels.id(), value: 'default' }] }),
    }),
  )
const parallel = (steps: Lists) =>
  sketch(
    {
      ...common,
      lists: fc.array(steps, { minLength: 1, maxLength: 4 }),
      concurrency: fc.option(concurrency, { nil: undefined }),
    },
    ({ lists, ...rest }, labels) => ({
      ...{ type: 'parallel', ...rest },
      branches: lists.map((steps, index) => ({ name: `b${index}`, steps: made(steps, labels) })),
    }),
  )
const forEach = (steps: Lists) =>
  sketch(
    { ...common, steps: steps, concurrency, items: fc.constantFrom('list', 'list', 'none', 'yes') },
    ({ steps, items, ...rest }, labels) => ({
      ...{ type: 'for_each', ...rest, items: `{{ input.${items} }}` },
      steps: made(steps, labels),
    }),
  )

const stepsOf = (leaf: fc.Arbitrary<Sketch>, containers: ((steps: Lists) => fc.Arbitrary<Sketch>)[]) =>
  fc.letrec<{ step: Sketch; container: Sketch; steps: Sketch[] }>((tie) => ({
    steps: fc.array(tie('step'), { minLength: 1, maxLength: 3 }),
    step: fc.oneof({ maxDepth: 3, depthIdentifier: 'step' }, leaf, leaf, tie('container')),
    container: fc.oneof(...containers.map((container) => container(tie('steps')))),
  }))

const { step } = stepsOf(leaf, [branch, choice, parallel, forEach])
/** Containers with many concurrent effects. */
const { container: contended } = stepsOf(fc.oneof({ weight: 5, arbitrary: effect }, leaf), [
  parallel,
  forEach,
])

/** Definitions with all kinds of steps, most of which refer to other steps, visible from there or not. */
export const definitions: fc.Arbitrary<WorkflowDefinition> = fc
  .record({
    steps: fc.oneof(
      fc.array(step, { minLength: 1, maxLength: 5 }),
      fc.array(contended, { minLength: 1, maxLength: 2 }),
    ),
    onFailure: fc.option(fc.array(leaf, { minLength: 1, maxLength: 2 }), { nil: undefined }),
    output: fc.option(which, { nil: undefined }),
    timeoutSeconds: fc.constantFrom(15_000, 40_000, 200_000, 2_000_000),
    retry: fc.option(retry, { nil: undefined }),
  })
  .map(({ steps, onFailure, output, ...rest }) => {
    let count = 0
    // The set of steps is known only after all of them have been created.
    const labels = {
      id: () => `s${count++}`,
      read: (which: number, field: string) => `{{ steps.?${which}.${field} }}`,
    }
    const definition = {
      ...rest,
      steps: made(steps, labels),
      ...(onFailure && { onFailure: made(onFailure, labels) }),
      ...(output !== undefined && { output: labels.read(output, 'output') }),
    }
    const text = JSON.stringify(definition).replaceAll(/\?(\d+)/g, (_, which) => `s${Number(which) % count}`)
    return WorkflowDefinition.parse(JSON.parse(text))
  })
