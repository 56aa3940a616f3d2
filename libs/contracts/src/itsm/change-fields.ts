import { z } from 'zod'

/** Fields shared by changes and change templates. */

export const ChangeTitle = z.string().trim().min(1).max(200)
/** Sized so that three plans of maximum length, and all other input, fit into an event twice. */
export const ChangePlan = z.string().trim().min(1).max(20_000)
export const SuccessProbability = z
  .int()
  .min(1)
  .max(100)
  .nullable()
  .meta({ description: 'Probability of success in percent. `null` if it was not estimated.', example: 95 })
