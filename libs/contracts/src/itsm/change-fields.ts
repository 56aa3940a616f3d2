import { z } from 'zod'

/** What a change, and the template of one, have in common. */

export const ChangeTitle = z.string().trim().min(1).max(200)
/** Three of the longest, and all else a person enters, fit into an event twice. */
export const ChangePlan = z.string().trim().min(1).max(20_000)
export const SuccessProbability = z
  .int()
  .min(1)
  .max(100)
  .nullable()
  .meta({ description: 'Percent; null where it was not estimated.', example: 95 })
