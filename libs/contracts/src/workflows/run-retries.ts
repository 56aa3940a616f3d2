import { z } from 'zod'
import { idSchema } from '../core/ids.js'

const At = z.iso.datetime({ precision: 3 })

const RunRetryStatus = z.enum(['running', 'completed', 'canceled'])

/** A retry of a group of failed runs. */
export const RunRetry = z
  .object({
    id: idSchema('runRetry'),
    workflowId: z.string(),
    failures: z.string().meta({ description: 'The group of failures.' }),
    status: RunRetryStatus,
    total: z.int().meta({ description: 'Runs that matched when it was asked for.' }),
    retried: z.int().meta({ description: 'So far.' }),
    refused: z.int().meta({
      description:
        'Runs that cannot be retried so, as the rights they acted by have ended: retry each by yourself.',
    }),
    createdAt: At,
    finishedAt: At.nullable(),
  })
  .meta({ id: 'RunRetry' })
export type RunRetry = z.infer<typeof RunRetry>

export const RunRetryStarted = z
  .object({
    dryRun: z.boolean(),
    count: z.int().meta({ description: 'Runs that match.' }),
    job: RunRetry.nullable().meta({ description: 'Null for a dry run.' }),
  })
  .meta({ id: 'RunRetryStarted' })
export type RunRetryStarted = z.infer<typeof RunRetryStarted>
