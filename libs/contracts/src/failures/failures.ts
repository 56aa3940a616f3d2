import { z } from 'zod'

/** Failures of a group are counted up to this number. */
export const maxCountedFailures = 10_000

/** Current failures with the same cause and target. */
export const FailureGroup = z
  .object({
    id: z.string().meta({ description: 'The same for as long as target and cause are.' }),
    target: z.object({
      type: z.enum(['webhook', 'workflow', 'artifact']),
      id: z.string(),
      name: z.string(),
    }),
    cause: z.object({
      code: z.string(),
      message: z.string().meta({ description: 'Of the last one, where they differ in details.' }),
    }),
    count: z.int().min(1).max(maxCountedFailures),
    isMore: z.boolean().meta({
      description: `Whether there may be more than were counted. At most the last ${maxCountedFailures} failures of a target are.`,
    }),
    firstAt: z.string().meta({ description: 'Of those counted.' }),
    lastAt: z.string(),
    to: z.string().meta({
      description:
        'The position up to which it was counted. Retried by it, a group takes nothing that fails later.',
    }),
  })
  .meta({ id: 'FailureGroup' })
export type FailureGroup = z.infer<typeof FailureGroup>

/** Body of a retry of a group of failures. */
export const RetryFailures = z
  .strictObject({
    to: z.string().min(1).max(500).meta({ description: 'The `to` of the group, as it was listed.' }),
    dryRun: z.boolean().default(false).meta({ description: 'Only count.' }),
  })
  .meta({ id: 'RetryFailures', example: { to: 'q80CBvJ8K1LcVbBbMTJd', dryRun: true } })
