import { NewSecret, Secret, SecretDetail, SecretRotation, UsedSecret } from '@opsplane/contracts'
import { defineList, defineRoute, type Route } from '@opsplane/http'
import { keysetPage } from '@opsplane/postgres'
import type { ServiceContext } from '@opsplane/service'
import { z } from 'zod'
import { secrets as table } from '../schema.js'
import type { SecretService } from './secret-service.js'

const tag = 'Secrets'
const sortColumns = { name: table.name, createdAt: table.createdAt }

/** Secrets of the current workspace and environment. No route gives a value back. */
export function secretRoutes({ database, cursors }: ServiceContext, secretService: SecretService): Route[] {
  return [
    defineList({
      operationId: 'listSecrets',
      path: '/secrets',
      summary: 'List secret names',
      description: 'Names, versions and uses; values are never shown.',
      tag,
      scope: 'secrets:read',
      sorts: ['name', '-createdAt'],
      response: UsedSecret,
      handler: async ({ query: { limit, after, sort }, binding, meta }) => {
        const page = await keysetPage(database.db, {
          table,
          tenant: meta.tenant,
          sort: { column: sortColumns[sort.field], direction: sort.direction },
          ...{ limit, after, binding, cursors, present: secretService.present },
        })
        return { ...page, items: await secretService.withUse(page.items) }
      },
    }),

    defineRoute({
      operationId: 'getSecret',
      method: 'get',
      path: '/secrets/:name',
      summary: 'Get a secret',
      description: 'With its uses: by which service, for whom, and to which host. The value is never shown.',
      tag,
      scope: 'secrets:read',
      response: SecretDetail,
      errors: ['not_found'],
      handler: ({ params, meta }) => secretService.get(params.name, meta.tenant),
    }),

    defineRoute({
      operationId: 'createSecret',
      stepUp: true,
      method: 'post',
      path: '/secrets',
      summary: 'Store a secret',
      description:
        'Usable as `{{secrets.<name>}}` from then on by those with `secrets:use`, towards its `hosts` alone. Without ' +
        '`hosts` it is sent to none yet: a definition that names it towards a literal host adds that host when a caller with ' +
        '`secrets:write` saves it (`secret.hosts_added`). 409 for a name that exists. Emits `secret.created`.',
      tag,
      scope: 'secrets:write',
      body: NewSecret,
      response: Secret,
      status: 201,
      errors: ['conflict'],
      handler: ({ body, meta }) => secretService.create(body, meta),
    }),

    defineRoute({
      operationId: 'rotateSecret',
      stepUp: true,
      method: 'put',
      path: '/secrets/:name',
      summary: 'Rotate a secret',
      description: 'Replaces the value, and `hosts` if given. Emits `secret.rotated`.',
      tag,
      scope: 'secrets:write',
      body: SecretRotation,
      response: Secret,
      errors: ['not_found', 'precondition_failed', 'version_conflict'],
      handler: ({ params, body, meta }) => secretService.rotate(params.name, body, meta),
    }),

    defineRoute({
      operationId: 'deleteSecret',
      stepUp: true,
      method: 'delete',
      path: '/secrets/:name',
      summary: 'Delete a secret',
      description: 'Definitions that refer to it fail from then on. Emits `secret.deleted`.',
      tag,
      scope: 'secrets:write',
      response: z.void(),
      status: 204,
      errors: ['not_found', 'precondition_failed'],
      handler: ({ params, meta }) => secretService.delete(params.name, meta),
    }),
  ]
}
