import {
  DeployApp,
  Deployment,
  DeploymentDiff,
  DeploymentWithContents,
  type ErrorCode,
  notFound,
  RollbackApp,
} from '@opsplane/contracts'
import { listPage } from '@opsplane/eventstore'
import { defineResource, defineRoute, diffDocuments, type Route } from '@opsplane/http'
import type { ServiceContext } from '@opsplane/service'
import { eq } from 'drizzle-orm'
import { z } from 'zod'
import type { Apps } from '../app/apps.js'
import type { Deployments } from './deployments.js'
import { deployments as table } from './tables.js'

const tag = 'App deployments'
const path = '/apps/:id/deployments'
const one = `${path}/:deployment` as const
const errors: ErrorCode[] = ['not_found', 'invalid_state_transition', 'forbidden', 'version_conflict']
const deploying = { method: 'post', tag, scope: 'apps:deploy', response: Deployment, status: 201 } as const

const route = defineResource({
  name: 'Deployment',
  path: path,
  key: 'deployment',
  tag,
  read: 'apps:read',
  write: 'apps:read',
  response: Deployment,
})

/** Deployments of an app to the environment of the request. */
export function deploymentRoutes(
  { database: { db }, cursors }: ServiceContext,
  { apps, deployments }: { apps: Apps; deployments: Deployments },
): Route[] {
  return [
    defineRoute({
      ...deploying,
      operationId: 'deployApp',
      path: '/apps/:id/deploy',
      summary: 'Deploy an app to the environment',
      description:
        'Its pages and data sources as they are now become an immutable deployment, which runs from then on with the rights ' +
        'of the caller, of just what it takes. First it is ' +
        'looked whether all they name is in the environment, and whether the caller may use it; otherwise nothing changes ' +
        'but that `deploy.failed` tells of it, and the answer names all that is missing (422). Emits `deploy.completed`.',
      body: DeployApp,
      errors,
      createdBelow: '/apps/:id/deployments',
      handler: ({ params, body, meta }) => deployments.deploy(params.id, body, meta),
    }),

    defineRoute({
      ...deploying,
      operationId: 'rollbackApp',
      path: '/apps/:id/rollback',
      summary: 'Deploy an earlier deployment again',
      description:
        'As a new deployment with the contents of that one and the rights of the caller, which is looked at as any other. Emits `deploy.completed` ' +
        'or `deploy.failed`.',
      body: RollbackApp,
      errors,
      createdBelow: '/apps/:id/deployments',
      handler: ({ params, body, meta }) => deployments.rollback(params.id, body, meta),
    }),

    defineRoute({
      ...deploying,
      operationId: 'takeOverApp',
      path: '/apps/:id/take-over',
      status: 200,
      summary: 'Give the live deployment the rights of the caller',
      description:
        'What runs in the environment acts from then on with the rights of the caller, who must hold all that it takes ' +
        '(403, `permission_not_held`). Nothing is deployed again, and a deployment that was held (`owner_rights`) answers ' +
        'again. Emits `deploy.taken_over`.',
      errors: ['conflict', 'invalid_state_transition', 'forbidden'],
      handler: ({ params, meta }) => deployments.takeOver(params.id, meta),
    }),

    route.list({
      summary: 'List the deployments of an app to the environment',
      description: 'The newest first, those that failed among them.',
      query: z.object({ status: Deployment.shape.status.optional() }),
      handler: async ({ params: { id }, query, binding, meta }) => {
        await apps.get(id, meta)
        const { tenant } = meta
        const { limit, after, sort, status } = query
        const live = await deployments.liveId(id, tenant)
        return listPage(db, {
          ...{ table, tenant, limit, after, binding, cursors, asOf: undefined },
          where: [eq(table.appId, id), status === undefined ? undefined : eq(table.status, status)],
          sort: { column: table.createdAt, direction: sort.direction },
          present: (row) => deployments.present(row, live),
        })
      },
    }),

    route.get({
      summary: 'Get a deployment with its pages and data sources',
      description: 'By its id or its number.',
      response: DeploymentWithContents,
      // The response contains `live`, which changes when another deployment goes live.
      changesUnversioned: true,
      handler: async ({ params, meta }) => {
        const found = await deployments.find(params.id, params.deployment, meta)
        if (found.status === 'failed') return { ...found, contents: { pages: [], sources: [] } }
        return { ...found, contents: (await deployments.load(found.id, meta.tenant)).contents }
      },
    }),

    defineRoute({
      operationId: 'diffDeployments',
      method: 'get',
      path: `${one}/diff/:other`,
      summary: 'Compare two deployments',
      description:
        'What it takes to get from the first to the second, by JSON pointers. Pages and data sources are compared by ' +
        'their ids. At most 1,000 changes.',
      tag,
      scope: 'apps:read',
      response: DeploymentDiff,
      handler: async ({ params, meta }) => {
        const [from, to] = await Promise.all(
          [params.deployment, params.other].map(async (reference) => {
            const { id, number } = await deployments.find(params.id, reference, meta)
            if (number === null) throw notFound()
            return { number, contents: (await deployments.load(id, meta.tenant)).contents }
          }),
        )
        if (!from || !to) throw new Error('two deployments were asked for')
        return { from: from.number, to: to.number, changes: diffDocuments(from.contents, to.contents) }
      },
    }),
  ]
}
