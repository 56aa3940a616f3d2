import { z } from 'zod'
import { type ExpressionFailure, expressionErrorCodes } from './error-codes.js'

const Failure = z.object({
  code: z.enum(expressionErrorCodes),
  message: z.string(),
  position: z.number().optional(),
  token: z.string().optional(),
}) satisfies z.ZodType<ExpressionFailure>

/** Results in the order of the expressions; a result without `value` means that the expression has no value. */
const EvaluateReply = z.object({
  results: z.array(z.union([z.object({ error: Failure }), z.object({ value: z.unknown().optional() })])),
})
export type ChildResult = z.infer<typeof EvaluateReply>['results'][number]

const CheckReply = z.object({
  checks: z.array(z.object({ error: Failure.optional(), references: z.array(z.string()) })),
})
export type ChildCheck = z.infer<typeof CheckReply>['checks'][number]

/** Throws if the text is not a valid answer to `evaluate`; a compromised child may send anything. */
export const parseResults = (text: string): ChildResult[] => EvaluateReply.parse(JSON.parse(text)).results

/** Throws if the text is not a valid answer to `check`. */
export const parseChecks = (text: string): ChildCheck[] => CheckReply.parse(JSON.parse(text)).checks
