import { z } from 'zod'
import { idSchema } from '../core/ids.js'

const At = z.iso.datetime({ precision: 3 })

const RunRetryStatus = z.enum(['running', 'completed', 'canceled'])

/** A retry of a group of failed runs. */
export const RunRetry = z
  .object({
    id: idSchema('runRetry'),
    workflowId: z.string(),
    failures: z.string().meta({ description: 'Group of failures that is retried.' }),
    status: RunRetryStatus,
    total: z.int().meta({ description: 'Number of runs that matched when the retry was requested.' }),
    retried: z.int().meta({ description: 'Number of runs retried so far.' }),
    refused: z.int().meta({
      description:
        'Number of runs that cannot be retried this way because the rights with which they acted have ended. Retry ' +
        'each of these runs yourself.',
    }),
    createdAt: At,
    finishedAt: At.nullable(),
  })
  .meta({ id: 'RunRetry' })
export type RunRetry = z.infer<typeof RunRetry>

export const RunRetryStarted = z
  .object({
    dryRun: z.boolean(),
    count: z.int().meta({ description: 'Number of runs that match.' }),
    job: RunRetry.nullable().meta({ description: 'Retry job; `null` for a dry run.' }),
  })
  .meta({ id: 'RunRetryStarted' })
export type RunRetryStarted = z.infer<typeof RunRetryStarted>
