import { NewSecret, Secret, SecretDetail, SecretRotation, UsedSecret } from '@opsplane/contracts'
import { defineResource, defineRoute, type Route } from '@opsplane/http'
import { keysetPage } from '@opsplane/postgres'
import type { ServiceContext } from '@opsplane/service'
import { secrets as table } from '../schema.js'
import type { SecretService } from './secret-service.js'

const tag = 'Secrets'
const sortColumns = { name: table.name, createdAt: table.createdAt }

const route = defineResource({
  name: 'Secret',
  path: '/secrets',
  key: 'name',
  tag,
  read: 'secrets:read',
  write: 'secrets:write',
  response: UsedSecret,
})

/** Routes for secrets of the current workspace and environment. No route returns a value. */
export function secretRoutes({ database, cursors }: ServiceContext, secretService: SecretService): Route[] {
  return [
    route.list({
      summary: 'List secret names',
      description: 'Returns names, versions and uses; values are never shown.',
      sorts: ['name', '-createdAt'],
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

    route.get({
      summary: 'Get a secret',
      description:
        'Includes the uses of the secret, each with service, person and host. The value is never shown.',
      response: SecretDetail,
      handler: ({ params, meta }) => secretService.get(params.name, meta.tenant),
    }),

    route.create({
      stepUp: true,
      summary: 'Store a secret',
      description:
        'From then on, callers with `secrets:use` can use the secret as `{{secrets.<name>}}`, only for requests to ' +
        'its `hosts`. Without `hosts`, the secret is sent to no host yet: a definition that uses it with a literal ' +
        'host adds that host when a caller with `secrets:write` saves the definition (`secret.hosts_added`). Returns ' +
        '409 if the name exists. Emits `secret.created`.',
      body: NewSecret,
      response: Secret,
      errors: ['conflict'],
      handler: ({ body, meta }) => secretService.create(body, meta),
    }),

    defineRoute({
      operationId: 'rotateSecret',
      stepUp: true,
      method: 'put',
      path: '/secrets/:name',
      summary: 'Rotate a secret',
      description: 'Replaces the value, and `hosts` if specified. Emits `secret.rotated`.',
      tag,
      scope: 'secrets:write',
      body: SecretRotation,
      response: Secret,
      handler: ({ params, body, meta }) => secretService.rotate(params.name, body, meta),
    }),

    route.delete({
      stepUp: true,
      summary: 'Delete a secret',
      description: 'Definitions that reference the secret fail from then on. Emits `secret.deleted`.',
      handler: ({ params, meta }) => secretService.delete(params.name, meta),
    }),
  ]
}
