import { z } from 'zod'

export const StateTransition = z.object({
  action: z.string().meta({ example: 'resolve' }),
  from: z.string().meta({ example: 'in_progress' }),
  to: z
    .array(z.string())
    .min(1)
    .meta({
      description:
        'Possible target statuses. The first one applies unless the request, or a rule named in the reference, ' +
        'selects another one.',
      example: ['resolved'],
    }),
  condition: z.string().nullable().meta({
    description: 'Restriction of the transition, for example to a type of change; `null` if there is none.',
    example: null,
  }),
})
export type StateTransition = z.infer<typeof StateTransition>

/** Lifecycle of one record type. The service enforces the same definition. */
export const StateMachine = z
  .object({
    entity: z.string().meta({ example: 'incident' }),
    statuses: z.array(
      z.object({
        name: z.string().meta({ example: 'resolved' }),
        final: z.boolean().meta({ description: 'Whether no action leads out of this status.' }),
      }),
    ),
    actions: z.array(z.string()),
    transitions: z.array(StateTransition),
  })
  .meta({ id: 'StateMachine' })
export type StateMachine = z.infer<typeof StateMachine>
