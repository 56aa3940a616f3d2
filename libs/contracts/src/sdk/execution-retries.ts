import { z } from 'zod'
import { idSchema } from '../core/ids.js'

const At = z.iso.datetime({ precision: 3 })

const ExecutionRetryStatus = z.enum(['running', 'completed', 'canceled'])

/** A retry of a group of failed executions. */
export const ExecutionRetry = z
  .object({
    id: idSchema('executionRetry'),
    artifactId: z.string(),
    failures: z.string().meta({ description: 'Group of failures that is retried.' }),
    status: ExecutionRetryStatus.meta({
      description:
        'Status of the retry. Also `canceled` if the user who requested it may no longer invoke artifacts.',
    }),
    total: z.int().meta({ description: 'Number of executions that matched when the retry was requested.' }),
    retried: z.int().meta({ description: 'Number of replays accepted so far.' }),
    refused: z.int().meta({
      description:
        'Number of executions that cannot be replayed unchanged: their input is masked or was not stored, or their ' +
        'version no longer exists.',
    }),
    createdAt: At,
    finishedAt: At.nullable(),
  })
  .meta({ id: 'ExecutionRetry' })
export type ExecutionRetry = z.infer<typeof ExecutionRetry>

export const ExecutionRetryStarted = z
  .object({
    dryRun: z.boolean(),
    count: z.int().meta({ description: 'Number of executions that match.' }),
    job: ExecutionRetry.nullable().meta({ description: 'Retry job; `null` for a dry run.' }),
  })
  .meta({ id: 'ExecutionRetryStarted' })
export type ExecutionRetryStarted = z.infer<typeof ExecutionRetryStarted>
