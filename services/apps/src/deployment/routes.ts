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
        'Creates an immutable deployment of the current pages and data sources of the app. The deployment runs from ' +
        'then on with those rights of the caller that it requires, and no others. Before that, the operation checks ' +
        'that all referenced resources exist in the environment and that the caller may use them; otherwise the ' +
        'deployment does not go live, `deploy.failed` is emitted, and the response lists everything that is missing ' +
        '(422). Emits `deploy.completed`.',
      body: DeployApp,
      errors,
      createdBelow: '/apps/:id/deployments',
      handler: ({ params, body, meta }) => deployments.deploy(params.id, body, meta),
    }),

    defineRoute({
      ...deploying,
      operationId: 'rollbackApp',
      path: '/apps/:id/rollback',
      summary: 'Roll back to an earlier deployment',
      description:
        'Creates a new deployment with the contents of the earlier one and the rights of the caller; the same checks ' +
        'apply as to any other deployment. Emits `deploy.completed` or `deploy.failed`.',
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
      summary: 'Take over the live deployment of an app',
      description:
        'The live deployment in the environment acts from then on with the rights of the caller, who must hold all ' +
        'permissions it requires (403, `permission_not_held`). Nothing is deployed again; a suspended deployment ' +
        '(`owner_rights`) returns data again. Emits `deploy.taken_over`.',
      errors: ['conflict', 'invalid_state_transition', 'forbidden'],
      handler: ({ params, meta }) => deployments.takeOver(params.id, meta),
    }),

    route.list({
      summary: 'List the deployments of an app to the environment',
      description: 'Newest first, including failed deployments.',
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
      summary: 'Get a deployment',
      description: 'Returns the deployment with its pages and data sources, by its id or its number.',
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
        'Returns the changes from the first deployment to the second, as JSON pointers. Pages and data sources are ' +
        'matched by their ids. At most 1,000 changes.',
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
