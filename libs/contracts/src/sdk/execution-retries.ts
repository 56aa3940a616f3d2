import { z } from 'zod'
import { idSchema } from '../core/ids.js'

const At = z.iso.datetime({ precision: 3 })

const ExecutionRetryStatus = z.enum(['running', 'completed', 'canceled'])

/** A retry of a group of failed executions. */
export const ExecutionRetry = z
  .object({
    id: idSchema('executionRetry'),
    artifactId: z.string(),
    failures: z.string().meta({ description: 'The group of failures.' }),
    status: ExecutionRetryStatus.meta({
      description: 'Also `canceled` where who has asked for it may invoke artifacts no more.',
    }),
    total: z.int().meta({ description: 'Executions that matched when it was asked for.' }),
    retried: z.int().meta({ description: 'Replays that were accepted so far.' }),
    refused: z.int().meta({
      description:
        'Executions that cannot be replayed as they were: their input is masked or was not kept, or their version is gone.',
    }),
    createdAt: At,
    finishedAt: At.nullable(),
  })
  .meta({ id: 'ExecutionRetry' })
export type ExecutionRetry = z.infer<typeof ExecutionRetry>

export const ExecutionRetryStarted = z
  .object({
    dryRun: z.boolean(),
    count: z.int().meta({ description: 'Executions that match.' }),
    job: ExecutionRetry.nullable().meta({ description: 'Null for a dry run.' }),
  })
  .meta({ id: 'ExecutionRetryStarted' })
export type ExecutionRetryStarted = z.infer<typeof ExecutionRetryStarted>
