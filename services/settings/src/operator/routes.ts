import { DeadLetter, DeadLetterFilters, PlatformStatus } from '@opsplane/contracts'
import { defineList, defineRoute, type Route } from '@opsplane/http'
import type { ServiceContext } from '@opsplane/service'
import { createDeadLetters } from './dead-letters.js'
import type { OperatedServices } from './operated-services.js'
import { platformStatus } from './platform-status.js'
import type { StatusClient } from './status-client.js'

const operating = {
  tag: 'Platform',
  scope: 'authenticated',
  workspace: 'none',
  operator: true,
} as const

/** Routes for the operators of the installation. */
export function operatorRoutes(
  ctx: ServiceContext,
  operated: OperatedServices,
  statusClient: StatusClient,
): Route[] {
  const deadLetters = createDeadLetters(ctx, operated, ctx.cursors)
  return [
    defineRoute({
      ...operating,
      operationId: 'getPlatformStatus',
      method: 'get',
      path: '/platform/status',
      summary: 'Get the status of the installation',
      description:
        'Returns the readiness of each service, its progress with events and due work, its dead letters, and the ' +
        'waiting webhooks. A service that does not respond within three seconds is marked as such. Contains counts ' +
        'and names, but no content of tenants.',
      response: PlatformStatus,
      handler: () => platformStatus(ctx.database.db, statusClient),
    }),

    defineList({
      ...operating,
      operationId: 'listDeadLetters',
      path: '/platform/dead-letters',
      summary: 'List dead letters',
      description:
        'Grouped by service, oldest first, with the kind of failure. Omits the contents of event and error, which ' +
        '`opsplane dead-letters show` displays on the servers.',
      sorts: [],
      query: DeadLetterFilters,
      response: DeadLetter,
      handler: ({ query, binding }) => deadLetters.list({ ...query, binding }),
    }),

    defineRoute({
      ...operating,
      operationId: 'redriveDeadLetter',
      stepUp: true,
      method: 'post',
      path: '/platform/dead-letters/:id/redrive',
      summary: 'Redrive a dead letter',
      description:
        'A dead letter that is handled is deleted; one that fails again stays, with `redrivenAt` `null`. The effect ' +
        'of the event happens once, however often this operation is called. Returns 409 for a dead letter that was ' +
        'too large for NATS (`relay`). Emits `dead_letter.redriven` in the workspace of the dead letter.',
      response: DeadLetter,
      errors: ['conflict'],
      idempotency: 'none',
      handler: ({ params, meta }) => deadLetters.redrive(params.id, meta),
    }),

    defineRoute({
      ...operating,
      operationId: 'dropDeadLetter',
      stepUp: true,
      method: 'delete',
      path: '/platform/dead-letters/:id',
      summary: 'Drop a dead letter',
      description:
        'The event is never handled. Emits `dead_letter.dropped` in the workspace of the dead letter.',
      handler: ({ params, meta }) => deadLetters.drop(params.id, meta),
    }),
  ]
}
