import { z } from 'zod'
import { Environment } from '../core/principal.js'
import { User } from './users.js'

/** Resources that may depend on a person, in listing order. */
export const dependentKinds = [
  'webhook',
  'workflow',
  'pack',
  'scheduled_job',
  'app',
  'embed_token',
  'kpi',
  'export',
  'import',
  'connector',
  'incident',
  'problem',
  'change',
  'catalog_task',
  'approval',
  'api_key',
] as const
export const DependentKind = z.enum(dependentKinds)
export type DependentKind = z.infer<typeof DependentKind>

/** The API call by which a person takes over a resource. */
export const TakeoverCall = z.object({
  method: z.enum(['POST', 'PATCH']),
  path: z.string(),
  body: z.record(z.string(), z.unknown()).nullable(),
})
export type TakeoverCall = z.infer<typeof TakeoverCall>

const fields = {
  kind: DependentKind,
  id: z.string(),
  name: z.string(),
  environment: Environment,
}

/** A resource that acts with a person's rights or is assigned to them, as reported by its service. */
export const FoundDependent = z.object({
  ...fields,
  /** `null` if the resource cannot be taken over: it ends. */
  takeOver: TakeoverCall.nullable(),
})
export type FoundDependent = z.infer<typeof FoundDependent>

/** Sent by settings to every service: which resources depend on a person. */
export const DependentsQuestion = z.strictObject({
  workspaceId: z.string().max(100),
  userId: z.string().max(100),
  /** The person who takes them over; `null` until one is named. */
  successorId: z.string().max(100).nullable(),
})
export type DependentsQuestion = z.infer<typeof DependentsQuestion>

/** Maximum number of dependents per kind. */
export const maxDependents = 200

export const FoundDependents = z.object({ dependents: z.array(FoundDependent) })

export const Dependent = z
  .object({
    ...fields,
    takeOver: z.string().nullable().meta({
      description:
        'API call by which a user takes over the resource; `null` if the resource ends with the person.',
      example: 'POST /api/v1/workflows/wf_01JZ8Q4D3N5W7X9Y2B4C6D8E0F/activate',
    }),
  })
  .meta({ id: 'Dependent' })
export type Dependent = z.infer<typeof Dependent>

const unanswered = z.array(z.string()).meta({
  description: 'Services that did not respond. Their resources are missing from this response.',
})

export const UserDependents = z
  .object({
    items: z
      .array(Dependent)
      .meta({ description: `Resources that depend on the person, at most ${maxDependents} of each kind.` }),
    unanswered,
  })
  .meta({ id: 'UserDependents' })
export type UserDependents = z.infer<typeof UserDependents>

export const RemovedUser = User.extend({
  dependents: z
    .array(
      Dependent.extend({
        takenOver: z.boolean().meta({
          description:
            'Whether the successor has taken over the resource, which then acts with the rights of the successor.',
        }),
        problem: z
          .string()
          .nullable()
          .meta({ description: 'Reason why the successor could not take over the resource.' }),
      }),
    )
    .meta({
      description:
        'Resources that depended on the person. Resources that acted with the rights of the person and were not ' +
        'taken over are held.',
    }),
  unanswered,
}).meta({ id: 'RemovedUser' })
export type RemovedUser = z.infer<typeof RemovedUser>

export const Removal = z.object({
  successor: z
    .string()
    .min(1)
    .max(100)
    .optional()
    .meta({
      description:
        "Id of a member who takes over the resources that depend on the person, immediately and with the member's " +
        'own rights. The member must not have more rights than the caller.',
    }),
})
