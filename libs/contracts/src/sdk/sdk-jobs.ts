import { z } from 'zod'
import { idSchema } from '../core/ids.js'
import { Schedule } from '../core/schedule.js'
import { type EventDefinition, resourceEvent } from '../events/catalog.js'
import { JsonValue } from '../json/json-value.js'
import { ArtifactSlug } from './sdk-artifacts.js'

const At = z.iso.datetime({ precision: 3 })
const Name = z.string().trim().min(1).max(200)
const Input = JsonValue.meta({ description: 'What each execution is given.' })

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
        'Who created it, or last changed or resumed what it runs: their rights and row rules bind each execution. Null for ' +
        'jobs of an earlier version, which have those of the owner of the artifact.',
    }),
  suspendedFor: z.array(z.string()).default([]).meta({
    description: 'What the owner lacks, while it is paused for that. A person with the rights resumes it.',
  }),
  createdAt: At,
  updatedAt: At,
})
export type ScheduledJobState = z.infer<typeof ScheduledJobState>

export const ScheduledJob = ScheduledJobState.extend({
  version: z.int().min(1),
  nextRunAt: At.nullable().meta({ description: 'Null while it is paused, and where nothing is to come.' }),
  lastRunAt: At.nullable().meta({ description: 'The latest time for which an execution was begun.' }),
}).meta({ id: 'ScheduledJob' })
export type ScheduledJob = z.infer<typeof ScheduledJob>

const fields = {
  name: Name,
  artifact: ArtifactSlug.meta({ description: 'Slug of the artifact: its present version runs.' }),
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
