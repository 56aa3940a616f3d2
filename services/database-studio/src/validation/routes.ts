import { KnownValidations } from '@opsplane/contracts'
import { defineRoute, type Route } from '@opsplane/http'
import type { ServiceContext } from '@opsplane/service'
import { z } from 'zod'
import type { Definitions } from '../data-plane/definitions.js'
import { storeValidations } from './stored-validations.js'

/** Routes called by the sdk before it acknowledges the installation of a pack. Not routed by the gateway. */
export function validationRoutes({ database }: ServiceContext, definitions: Definitions): Route[] {
  return [
    defineRoute({
      method: 'post',
      tag: 'Internal',
      scope: 'service',
      idempotency: 'none',
      operationId: 'keepValidations',
      path: '/internal/validations',
      callers: ['sdk'],
      summary: 'Store validations, effective everywhere within a second',
      body: KnownValidations,
      response: z.object({}),
      handler: async ({ body: { validations, ...tenant } }) => {
        await storeValidations(database.sql, tenant, validations)
        for (const { validates } of validations)
          for (const slug of validates?.tables ?? []) definitions.forget(tenant, slug)
        return {}
      },
    }),
  ]
}
