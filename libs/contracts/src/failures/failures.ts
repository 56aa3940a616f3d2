import { z } from 'zod'

/** Failures of a group are counted up to this number. */
export const maxCountedFailures = 10_000

/** Current failures with the same cause and target. */
export const FailureGroup = z
  .object({
    id: z
      .string()
      .meta({ description: 'Id of the group. Stays the same as long as target and cause are the same.' }),
    target: z.object({
      type: z.enum(['webhook', 'workflow', 'artifact']),
      id: z.string(),
      name: z.string(),
    }),
    cause: z.object({
      code: z.string(),
      message: z
        .string()
        .meta({ description: 'Message of the latest failure, if the messages differ in details.' }),
    }),
    count: z.int().min(1).max(maxCountedFailures),
    isMore: z.boolean().meta({
      description:
        `Whether there may be more failures than were counted. At most the last ${maxCountedFailures} failures of a ` +
        'target are counted.',
    }),
    firstAt: z.string().meta({ description: 'Time of the first failure counted.' }),
    lastAt: z.string(),
    to: z.string().meta({
      description:
        'Position up to which failures were counted. A retry of the group with this position excludes later failures.',
    }),
  })
  .meta({ id: 'FailureGroup' })
export type FailureGroup = z.infer<typeof FailureGroup>

/** Body of a retry of a group of failures. */
export const RetryFailures = z
  .strictObject({
    to: z.string().min(1).max(500).meta({ description: 'The `to` of the group as it was listed.' }),
    dryRun: z.boolean().default(false).meta({ description: 'Only counts the failures.' }),
  })
  .meta({ id: 'RetryFailures', example: { to: 'q80CBvJ8K1LcVbBbMTJd', dryRun: true } })
