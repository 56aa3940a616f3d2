import {
  AppActionAnswer,
  AppActionRequest,
  AppDataAnswer,
  AppDataRequest,
  AppDefinition,
  type ErrorCode,
} from '@opsplane/contracts'
import { defineRoute, type RequestMeta, type Route } from '@opsplane/http'
import type { Use } from './call/use.js'
import type { DeploymentUse } from './deployment-use.js'
import type { Enter } from './enter.js'
import { refuseSuspended } from './suspended.js'

const path = '/origin/apps/:workspace/:slug/-'
const errors: ErrorCode[] = [
  'unauthenticated',
  'invalid_token',
  'token_expired',
  'insufficient_scope',
  'workspace_forbidden',
  'forbidden',
  'not_found',
]
/** The gateway verifies sessions and keys; this service verifies embed tokens. */
const running = {
  tag: 'Running apps',
  isDocumented: false,
  scope: 'public',
  workspace: 'optional',
  idempotency: 'none',
} as const
const dataBytes = 64 * 1024
const actionBytes = 256 * 1024

/** Operations for the browser of a deployed app. Not part of the OpenAPI document, and not available to cookies. */
export function runtimeRoutes(enter: Enter, use: Use): Route[] {
  return [
    defineRoute({
      ...running,
      operationId: 'getAppDefinition',
      method: 'get',
      path: `${path}/definition`,
      summary: 'Get the definition of a deployed app',
      response: AppDefinition,
      errors,
      handler: async ({ params, meta }) => definitionOf(await enter(params, meta)),
    }),

    defineRoute({
      ...running,
      operationId: 'getAppData',
      method: 'post',
      path: `${path}/data`,
      summary: 'Get data of a deployed app',
      body: AppDataRequest,
      bodyLimitBytes: dataBytes,
      response: AppDataAnswer,
      waits: true,
      errors,
      async handler({ params, body, meta }) {
        const entered = await enter(params, meta)
        refuseSuspended(entered, meta)
        return use.data(entered, body, contextOf(meta, meta.requestId))
      },
    }),

    defineRoute({
      ...running,
      operationId: 'runAppAction',
      method: 'post',
      path: `${path}/actions`,
      summary: 'Run an action of a deployed app',
      description:
        'With an Idempotency-Key, a repeated request has no further effect on the resources the action calls.',
      body: AppActionRequest,
      bodyLimitBytes: actionBytes,
      response: AppActionAnswer,
      waits: true,
      errors: [...errors, 'conflict', 'precondition_failed'],
      handler: async ({ params, body, meta }) => {
        const entered = await enter(params, meta)
        refuseSuspended(entered, meta)
        return { value: await use.act(entered, body, contextOf(meta, repetitionKeyOf(entered, meta))) }
      },
    }),
  ]
}

const contextOf = ({ signal, log }: RequestMeta, key: string) => ({ signal: signal(), log: log(), key })

/** Scopes the idempotency key to the person or embed token: the same key from anyone else is another request. */
function repetitionKeyOf({ embed }: DeploymentUse, { header, principal, requestId }: RequestMeta): string {
  const key = header('idempotency-key')
  return key === undefined ? requestId : `${embed?.id ?? principal.userId}/${key.slice(0, 200)}`
}

function definitionOf({ deployment, contents, tenant, user }: DeploymentUse): AppDefinition {
  const { appName: name, appSlug: slug, number } = deployment
  return {
    app: { name, slug, environment: tenant.environment, deployment: number ?? 0 },
    user,
    pages: contents.pages.map(({ slug: page, title, inNavigation, components }) => ({
      ...{ slug: page, title, inNavigation, components },
    })),
  }
}
