import { z } from 'zod'
import { idSchema } from './ids.js'

/** Asks a service for the cause depth of some of its runs or executions. */
export const CauseDepthsQuestion = z.strictObject({
  ids: z.array(z.union([idSchema('run'), idSchema('execution')])).max(1_000),
})

/** Number of runs and executions in the chain that caused each one. Deleted ones are omitted. */
export const CauseDepths = z.object({
  depths: z.array(z.object({ id: z.string(), depth: z.int().min(0) })),
})
