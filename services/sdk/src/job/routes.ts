import { NewScheduledJob, ScheduledJob, ScheduledJobPatch } from '@opsplane/contracts'
import { listPage } from '@opsplane/eventstore'
import { defineResource, type Route } from '@opsplane/http'
import type { ServiceContext } from '@opsplane/service'
import { job } from './domain.js'
import type { Jobs } from './jobs.js'
import { jobs as table } from './tables.js'

const route = defineResource({
  name: 'ScheduledJob',
  path: '/sdk/scheduled-jobs',
  tag: 'Scheduled jobs',
  read: 'sdk:read',
  write: 'sdk:write',
  response: ScheduledJob,
})

export function jobRoutes({ store, database: { db }, cursors }: ServiceContext, jobs: Jobs): Route[] {
  const aggregate = store.aggregate(job)
  return [
    route.list({
      summary: 'List scheduled jobs',
      description: 'Returns each job with the times of its last and its next run.',
      handler: async ({ query: { limit, after, sort }, binding, meta: { tenant } }) => {
        const page = await listPage(db, {
          ...{ table, tenant, sort: { column: table.createdAt, direction: sort.direction } },
          ...{ limit, after, binding, cursors, asOf: undefined, present: aggregate.present },
        })
        return { ...page, items: await Promise.all(page.items.map((item) => jobs.shown(item, tenant))) }
      },
    }),

    route.create({
      idempotency: 'claim',
      summary: 'Create a scheduled job',
      description:
        'The job runs an artifact at the times of a schedule, on behalf of the installer of the artifact. Emits ' +
        '`scheduled_job.created`.',
      body: NewScheduledJob,
      handler: ({ body, meta }) => jobs.create(body, meta),
    }),

    route.get({
      summary: 'Get a scheduled job',
      description: 'Returns the job with its schedule and input, and the times of its last and its next run.',
      changesUnversioned: true,
      handler: ({ params, meta }) => jobs.get(params.id, meta.tenant),
    }),

    route.update({
      idempotency: 'claim',
      summary: 'Update a scheduled job',
      description:
        'A new schedule takes effect immediately. Emits `scheduled_job.updated`, or no event if nothing changes.',
      body: ScheduledJobPatch,
      handler: ({ params, body, meta }) => jobs.update(params.id, body, meta),
    }),

    route.delete({
      summary: 'Delete a scheduled job',
      description: 'Executions that the job has started continue. Emits `scheduled_job.deleted`.',
      handler: ({ params, meta }) => jobs.delete(params.id, meta),
    }),

    route.action('pause', {
      idempotency: 'claim',
      summary: 'Pause a scheduled job',
      description: 'Runs missed during the pause are not made up for. Emits `scheduled_job.updated`.',
      handler: ({ params, meta }) => jobs.update(params.id, { status: 'paused' }, meta),
    }),

    route.action('resume', {
      idempotency: 'claim',
      summary: 'Resume a scheduled job',
      description: 'The job runs again from its next scheduled time. Emits `scheduled_job.updated`.',
      handler: ({ params, meta }) => jobs.update(params.id, { status: 'active' }, meta),
    }),
  ]
}
