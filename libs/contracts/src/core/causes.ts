import { z } from 'zod'
import { idSchema } from './ids.js'

/** What a service asks another that runs things: how deep some of its runs or executions are. */
export const CauseDepthsQuestion = z.strictObject({
  ids: z.array(z.union([idSchema('run'), idSchema('execution')])).max(1_000),
})

/** How many runs and executions had caused each; those that are not there any more are absent. */
export const CauseDepths = z.object({
  depths: z.array(z.object({ id: z.string(), depth: z.int().min(0) })),
})
