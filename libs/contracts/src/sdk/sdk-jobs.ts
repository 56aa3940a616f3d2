import { z } from 'zod'
import { idSchema } from '../core/ids.js'
import { Schedule } from '../core/schedule.js'
import { type EventDefinition, resourceEvent } from '../events/catalog.js'
import { JsonValue } from '../json/json-value.js'
import { ArtifactSlug } from './sdk-artifacts.js'

const At = z.iso.datetime({ precision: 3 })
const Name = z.string().trim().min(1).max(200)
const Input = JsonValue.meta({ description: 'Input of each execution.' })

/** A scheduled artifact, as contained in events. */
export const ScheduledJobState = z.object({
  id: idSchema('job'),
  name: Name,
  artifact: ArtifactSlug,
  input: Input,
  schedule: Schedule,
  status: z.enum(['active', 'paused']),
  ownerId: idSchema('user')
    .nullable()
    .default(null)
    .meta({
      description:
        'User who created the job, resumed it, or last changed its artifact, input or schedule. The rights and row ' +
        'rules of this user apply to each execution. `null` for jobs of an earlier version, which have the rights of ' +
        'the owner of the artifact.',
    }),
  suspendedFor: z
    .array(z.string())
    .default([])
    .meta({
      description:
        'Rights that the owner lacks, while the job is paused for this reason. A user with these rights can resume ' +
        'it.',
    }),
  createdAt: At,
  updatedAt: At,
})
export type ScheduledJobState = z.infer<typeof ScheduledJobState>

export const ScheduledJob = ScheduledJobState.extend({
  version: z.int().min(1),
  nextRunAt: At.nullable().meta({
    description: 'Time of the next run; `null` while the job is paused or if no run is due any more.',
  }),
  lastRunAt: At.nullable().meta({ description: 'Latest scheduled time for which an execution was started.' }),
}).meta({ id: 'ScheduledJob' })
export type ScheduledJob = z.infer<typeof ScheduledJob>

const fields = {
  name: Name,
  artifact: ArtifactSlug.meta({ description: 'Slug of the artifact. The job runs its current version.' }),
  input: Input,
  schedule: Schedule,
}
const example = {
  name: 'Nightly clean-up',
  artifact: 'close-stale-incidents',
  schedule: { cron: '30 2 * * *', timeZone: 'Europe/Berlin' },
}

export const NewScheduledJob = z
  .strictObject({ ...fields, input: Input.default({}) })
  .meta({ id: 'NewScheduledJob', example })
export type NewScheduledJob = z.infer<typeof NewScheduledJob>

export const ScheduledJobPatch = z
  .strictObject(fields)
  .partial()
  .meta({ id: 'ScheduledJobPatch', example: { schedule: { everySeconds: 3_600 } } })

export const jobEvents = {
  'scheduled_job.created': resourceEvent(ScheduledJobState, 'A scheduled job was created.'),
  'scheduled_job.updated': resourceEvent(
    ScheduledJobState,
    'A scheduled job was changed, paused or resumed.',
  ),
  'scheduled_job.deleted': resourceEvent(ScheduledJobState, 'A scheduled job was deleted.'),
} satisfies Record<string, EventDefinition>
