import { z } from 'zod'
import { type ExpressionFailure, expressionErrorCodes } from './error-codes.js'

const Failure = z.object({
  code: z.enum(expressionErrorCodes),
  message: z.string(),
  position: z.number().optional(),
  token: z.string().optional(),
}) satisfies z.ZodType<ExpressionFailure>

/** Results in the order of the expressions; one without a value came to nothing. */
const EvaluateReply = z.object({
  results: z.array(z.union([z.object({ error: Failure }), z.object({ value: z.unknown().optional() })])),
})
export type ChildResult = z.infer<typeof EvaluateReply>['results'][number]

const CheckReply = z.object({
  checks: z.array(z.object({ error: Failure.optional(), references: z.array(z.string()) })),
})
export type ChildCheck = z.infer<typeof CheckReply>['checks'][number]

/** Throws where it is no answer to `evaluate`, as one from a child that was taken over may be. */
export const parseResults = (text: string): ChildResult[] => EvaluateReply.parse(JSON.parse(text)).results

/** Throws where it is no answer to `check`. */
export const parseChecks = (text: string): ChildCheck[] => CheckReply.parse(JSON.parse(text)).checks
