import { NewScheduledJob, ScheduledJob, ScheduledJobPatch } from '@opsplane/contracts'
import { listPage } from '@opsplane/eventstore'
import { defineList, defineRoute, type Route } from '@opsplane/http'
import type { ServiceContext } from '@opsplane/service'
import { z } from 'zod'
import { job } from './domain.js'
import type { Jobs } from './jobs.js'
import { jobs as table } from './tables.js'

const tag = 'Scheduled jobs'
const common = { tag, scope: 'sdk:write', response: ScheduledJob, idempotency: 'claim' } as const

export function jobRoutes({ store, database: { db }, cursors }: ServiceContext, jobs: Jobs): Route[] {
  const aggregate = store.aggregate(job)
  return [
    defineList({
      operationId: 'listScheduledJobs',
      path: '/sdk/scheduled-jobs',
      summary: 'List scheduled jobs',
      description: 'With the times of the last and the next run.',
      tag,
      scope: 'sdk:read',
      response: ScheduledJob,
      handler: async ({ query: { limit, after, sort }, binding, meta: { tenant } }) => {
        const page = await listPage(db, {
          ...{ table, tenant, sort: { column: table.createdAt, direction: sort.direction } },
          ...{ limit, after, binding, cursors, asOf: undefined, present: aggregate.present },
        })
        return { ...page, items: await Promise.all(page.items.map((item) => jobs.shown(item, tenant))) }
      },
    }),

    defineRoute({
      ...common,
      operationId: 'createScheduledJob',
      method: 'post',
      path: '/sdk/scheduled-jobs',
      summary: 'Create a scheduled job',
      description:
        'Runs an artifact at the times of a schedule, in the name of its installer. Emits `scheduled_job.created`.',
      body: NewScheduledJob,
      status: 201,
      handler: ({ body, meta }) => jobs.create(body, meta),
    }),

    defineRoute({
      operationId: 'getScheduledJob',
      method: 'get',
      path: '/sdk/scheduled-jobs/:id',
      summary: 'Get a scheduled job',
      description: 'With its schedule and input, and the times of the last and the next run.',
      tag,
      scope: 'sdk:read',
      response: ScheduledJob,
      changesUnversioned: true,
      errors: ['not_found'],
      handler: ({ params, meta }) => jobs.get(params.id, meta.tenant),
    }),

    defineRoute({
      ...common,
      operationId: 'updateScheduledJob',
      method: 'patch',
      path: '/sdk/scheduled-jobs/:id',
      summary: 'Update a scheduled job',
      description:
        'Another schedule counts from now on. Emits `scheduled_job.updated`, or nothing where nothing changes.',
      body: ScheduledJobPatch,
      errors: ['not_found', 'precondition_failed', 'version_conflict'],
      handler: ({ params, body, meta }) => jobs.update(params.id, body, meta),
    }),

    defineRoute({
      operationId: 'deleteScheduledJob',
      method: 'delete',
      path: '/sdk/scheduled-jobs/:id',
      summary: 'Delete a scheduled job',
      description: 'Executions it has begun go on. Emits `scheduled_job.deleted`.',
      tag,
      scope: 'sdk:write',
      response: z.void(),
      status: 204,
      errors: ['not_found', 'precondition_failed', 'version_conflict'],
      handler: ({ params, meta }) => jobs.delete(params.id, meta),
    }),

    defineRoute({
      ...common,
      operationId: 'pauseScheduledJob',
      method: 'post',
      path: '/sdk/scheduled-jobs/:id/pause',
      summary: 'Pause a scheduled job',
      description: 'What it would have run meanwhile is not made up for. Emits `scheduled_job.updated`.',
      errors: ['not_found', 'precondition_failed', 'version_conflict'],
      handler: ({ params, meta }) => jobs.update(params.id, { status: 'paused' }, meta),
    }),

    defineRoute({
      ...common,
      operationId: 'resumeScheduledJob',
      method: 'post',
      path: '/sdk/scheduled-jobs/:id/resume',
      summary: 'Resume a scheduled job',
      description: 'From its next time on. Emits `scheduled_job.updated`.',
      errors: ['not_found', 'precondition_failed', 'version_conflict'],
      handler: ({ params, meta }) => jobs.update(params.id, { status: 'active' }, meta),
    }),
  ]
}
