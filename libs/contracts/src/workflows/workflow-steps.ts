import { z } from 'zod'
import { Filter } from '../core/filter.js'
import { idSchema } from '../core/ids.js'
import { TopicName } from '../dispatcher/topics.js'
import { JsonValue } from '../json/json-value.js'
import { ArtifactSlug } from '../sdk/sdk-artifacts.js'

/** Name of a step within its workflow, and of its result in expressions: `steps.<id>.output`. */
const StepId = z
  .string()
  .regex(/^[a-z][a-z0-9_]{0,49}$/, 'must be a lower-case letter, followed by at most 49 of a-z, 0-9 and _')
  .meta({ example: 'fetch_incident' })

/** A JSON value whose strings may contain `{{ expression }}`. */
const Value = JsonValue
const Text = z.string().max(10_000)
/** One `{{ expression }}`. */
const Expression = z.string().min(1).max(10_000)
const Seconds = z.int().min(1)
const maxDeadlineSeconds = 365 * 86_400

export const StepRetry = z
  .strictObject({
    attempts: z
      .int()
      .min(1)
      .max(20)
      .default(3)
      .meta({ description: 'Maximum number of attempts, including the first one.' }),
    strategy: z.enum(['fixed', 'exponential']).default('exponential'),
    delaySeconds: z.number().min(0.1).max(3_600).default(2),
    maxDelaySeconds: z.number().min(0.1).max(86_400).default(300),
  })
  .meta({ id: 'StepRetry' })

/** Fields of every step. */
const common = {
  id: StepId,
  name: z.string().trim().min(1).max(200).optional(),
  continueOnError: z
    .boolean()
    .default(false)
    .meta({
      description:
        'Whether the run continues if the step fails. The output of the step is then `null`, and `steps.<id>.error` ' +
        'contains the reason.',
    }),
}
/** Fields of steps with external effects. */
const effect = {
  ...common,
  retry: StepRetry.optional(),
  timeoutSeconds: Seconds.max(600).default(30).meta({ description: 'Timeout of one attempt in seconds.' }),
}

const HttpStep = z.strictObject({
  type: z.literal('http'),
  ...effect,
  method: z.enum(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']).default('GET'),
  url: Text.min(1),
  headers: z.record(z.string().max(200), Text).default({}),
  query: z.record(z.string().max(200), Value).default({}),
  body: Value.optional(),
})

const ApiStep = z.strictObject({
  type: z.literal('api'),
  ...effect,
  operation: z
    .string()
    .max(100)
    .meta({ description: 'Operation id of this API.', example: 'createIncident' }),
  params: z
    .record(z.string().max(100), Value)
    .default({})
    .meta({ description: 'Path parameters of the operation.' }),
  query: z.record(z.string().max(100), Value).default({}),
  body: Value.optional(),
})

const ConnectorStep = z.strictObject({
  type: z.literal('connector'),
  ...effect,
  connector: idSchema('connector'),
  action: z.string().min(1).max(200),
  input: Value.optional(),
})

const ArtifactStep = z.strictObject({
  type: z.literal('artifact'),
  ...effect,
  artifact: ArtifactSlug.meta({
    description: 'Slug of the artifact. The step runs the current version in the environment of the run.',
  }),
  input: Value.optional(),
})

const TransformStep = z.strictObject({ type: z.literal('transform'), ...common, value: Value })

const PublishStep = z.strictObject({
  type: z.literal('publish'),
  ...effect,
  topic: TopicName,
  eventType: Text.min(1),
  payload: Value,
  deduplicationKey: Text.optional(),
})

const WorkflowStep = z.strictObject({
  type: z.literal('workflow'),
  ...common,
  workflow: idSchema('workflow'),
  input: Value.optional(),
  wait: z
    .boolean()
    .default(true)
    .meta({
      description:
        'Whether the step waits for the output of the started run. If `false`, the output of the step is the id of ' +
        'that run.',
    }),
})

const WaitEvent = z.strictObject({
  types: z.array(z.string().min(1).max(100)).min(1).max(20),
  filter: Filter.optional().meta({
    description: 'Conditions over the webhook body of the event; values may be templates.',
  }),
  timeoutSeconds: Seconds.max(maxDeadlineSeconds).default(7 * 86_400),
})
const WaitStep = z.strictObject({
  type: z.literal('wait'),
  ...common,
  seconds: z.union([z.number().min(0).max(maxDeadlineSeconds), Expression]).optional(),
  until: Expression.optional().meta({ description: 'Instant in ISO 8601 until which the step waits.' }),
  event: WaitEvent.optional().meta({
    description: 'Event for which the step waits. Includes events accepted since the start of the run.',
  }),
})

const ApprovalStep = z.strictObject({
  type: z.literal('approval'),
  ...common,
  title: Text.min(1),
  message: Text.default(''),
  data: Value.optional().meta({ description: 'Data shown to the approvers.' }),
  approvers: z.strictObject({
    users: z.array(Text).max(50).default([]).meta({ description: 'Ids of users; may be templates.' }),
    roles: z.array(z.string().max(50)).max(20).default([]),
  }),
  quorum: z
    .int()
    .min(1)
    .max(50)
    .default(1)
    .meta({
      description:
        'Number of required approvals; one rejection is enough to reject. A rejected or expired step fails, unless a ' +
        'branch or switch reads its output, which is then `approved: false`.',
    }),
  deadlineSeconds: Seconds.max(maxDeadlineSeconds).optional(),
  reminderSeconds: Seconds.max(maxDeadlineSeconds)
    .optional()
    .meta({ description: 'Seconds between reminders.' }),
})

const StopStep = z.strictObject({ type: z.literal('stop'), ...common, output: Value.optional() })
const FailStep = z.strictObject({
  type: z.literal('fail'),
  ...common,
  message: Text.min(1),
  details: Value.optional(),
})

const branchFields = { type: z.literal('branch'), ...common, if: Expression }
const switchFields = { type: z.literal('switch'), ...common, value: Expression }
const parallelFields = {
  type: z.literal('parallel'),
  ...common,
  concurrency: z.int().min(1).max(50).optional(),
}
const forEachFields = {
  type: z.literal('for_each'),
  ...common,
  items: Expression.meta({
    description:
      'Expression that returns an array. Each element is available as `item`, and its position, counted from 0, as ' +
      '`index`.',
  }),
  concurrency: z.int().min(1).max(50).default(1),
  maxItems: z.int().min(1).max(10_000).default(1_000),
}
type Fields<Shape extends z.core.$ZodLooseShape> = z.output<z.ZodObject<Shape, z.core.$strict>>

export type HttpStep = z.output<typeof HttpStep>
export type ApiStep = z.output<typeof ApiStep>
export type ConnectorStep = z.output<typeof ConnectorStep>
export type ArtifactStep = z.output<typeof ArtifactStep>
export type TransformStep = z.output<typeof TransformStep>
export type PublishStep = z.output<typeof PublishStep>
type WorkflowStep = z.output<typeof WorkflowStep>
export type WaitStep = z.output<typeof WaitStep>
export type ApprovalStep = z.output<typeof ApprovalStep>
type StopStep = z.output<typeof StopStep>
type FailStep = z.output<typeof FailStep>
type BranchStep = Fields<typeof branchFields> & { then: Step[]; else?: Step[] | undefined }
type SwitchStep = Fields<typeof switchFields> & {
  cases: { equals: z.output<typeof Value>; steps: Step[] }[]
  default?: Step[] | undefined
}
export type ParallelStep = Fields<typeof parallelFields> & { branches: { name: string; steps: Step[] }[] }
export type ForEachStep = Fields<typeof forEachFields> & { steps: Step[] }

/** Steps with external effects: performed at least once, with a key by which the target detects a repetition. */
export type EffectStep = HttpStep | ApiStep | ConnectorStep | ArtifactStep | PublishStep
export const effectStepTypes: readonly EffectStep['type'][] = [
  'http',
  'api',
  'connector',
  'artifact',
  'publish',
]
/** Steps that contain other steps. */
type ContainerStep = BranchStep | SwitchStep | ParallelStep | ForEachStep
export type Step =
  | EffectStep
  | ContainerStep
  | TransformStep
  | WorkflowStep
  | WaitStep
  | ApprovalStep
  | StopStep
  | FailStep

/** Steps that run one after another. */
export const Steps: z.ZodType<Step[]> = z.lazy(() => z.array(Step).min(1).max(200))

const BranchStep = z.strictObject({
  ...branchFields,
  then: Steps,
  else: Steps.optional(),
})
const SwitchStep = z.strictObject({
  ...switchFields,
  cases: z
    .array(z.strictObject({ equals: Value, steps: Steps }))
    .min(1)
    .max(50),
  default: Steps.optional(),
})
const ParallelStep = z.strictObject({
  ...parallelFields,
  branches: z
    .array(z.strictObject({ name: StepId, steps: Steps }))
    .min(1)
    .max(50),
})
const ForEachStep = z.strictObject({ ...forEachFields, steps: Steps })

export const Step = z
  .discriminatedUnion('type', [
    HttpStep,
    ApiStep,
    ConnectorStep,
    ArtifactStep,
    PublishStep,
    TransformStep,
    WorkflowStep,
    WaitStep,
    ApprovalStep,
    BranchStep,
    SwitchStep,
    ParallelStep,
    ForEachStep,
    StopStep,
    FailStep,
  ])
  .meta({ id: 'Step' })
export type StepType = Step['type']
