import { z } from 'zod'

const VariableName = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,99}$/, 'must be a name, without the $')

export const Evaluation = z
  .strictObject({
    expression: z
      .string()
      .max(16_384)
      .regex(/\S/, 'must not be blank')
      .meta({ description: 'JSONata expression, without braces.' }),
    input: z
      .unknown()
      .optional()
      .meta({ description: 'Any JSON value that the expression reads. Default: `{}`.' }),
    bindings: z.record(VariableName, z.unknown()).optional().meta({
      description: 'Values of variables: the binding `rate` is available as `$rate` in the expression.',
    }),
  })
  .meta({
    id: 'Evaluation',
    example: {
      expression: '$sum(lines.(price * quantity)) * $rate',
      input: {
        lines: [
          { price: 12.5, quantity: 2 },
          { price: 5, quantity: 1 },
        ],
      },
      bindings: { rate: 1.2 },
    },
  })
export type Evaluation = z.infer<typeof Evaluation>

export const EvaluationResult = z
  .object({
    result: z.unknown().meta({ description: 'Result as JSON. `null` if the expression yields nothing.' }),
    durationMs: z
      .number()
      .min(0)
      .meta({ description: 'Duration in milliseconds, including the time spent waiting in the queue.' }),
  })
  .meta({ id: 'EvaluationResult' })
export type EvaluationResult = z.infer<typeof EvaluationResult>
