import { z } from 'zod'

export const StateTransition = z.object({
  action: z.string().meta({ example: 'resolve' }),
  from: z.string().meta({ example: 'in_progress' }),
  to: z
    .array(z.string())
    .min(1)
    .meta({
      description:
        'Where it leads; the first unless the request, or a rule the reference names, asks for another.',
      example: ['resolved'],
    }),
  condition: z
    .string()
    .nullable()
    .meta({ description: 'What it applies to only, such as a type of change.', example: null }),
})
export type StateTransition = z.infer<typeof StateTransition>

/** Lifecycle of one record type. The service enforces the same definition. */
export const StateMachine = z
  .object({
    entity: z.string().meta({ example: 'incident' }),
    statuses: z.array(
      z.object({
        name: z.string().meta({ example: 'resolved' }),
        final: z.boolean().meta({ description: 'No action leads on from it.' }),
      }),
    ),
    actions: z.array(z.string()),
    transitions: z.array(StateTransition),
  })
  .meta({ id: 'StateMachine' })
export type StateMachine = z.infer<typeof StateMachine>
