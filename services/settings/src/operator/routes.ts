import { DeadLetter, DeadLetterFilters, PlatformStatus } from '@opsplane/contracts'
import { defineList, defineRoute, type Route } from '@opsplane/http'
import type { ServiceContext } from '@opsplane/service'
import { z } from 'zod'
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

/** How the installation is, for those who operate it. */
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
      summary: 'Find out how the installation is',
      description:
        'Which services are ready, how far they are with events and due work, what they have given up, and which webhooks wait. A service ' +
        "that does not answer within three seconds is reported so. Counts and names, no tenant's content.",
      response: PlatformStatus,
      handler: () => platformStatus(ctx.database.db, statusClient),
    }),

    defineList({
      ...operating,
      operationId: 'listDeadLetters',
      path: '/platform/dead-letters',
      summary: 'List what consumers of events have given up',
      description:
        'Of one service after the other, the oldest first; with the kind of failure, and without what an event and the error say, which ' +
        '`opsplane dead-letters show` reads on the servers.',
      sorts: [],
      query: DeadLetterFilters,
      response: DeadLetter,
      errors: ['service_unavailable'],
      handler: ({ query, binding }) => deadLetters.list({ ...query, binding }),
    }),

    defineRoute({
      ...operating,
      operationId: 'redriveDeadLetter',
      stepUp: true,
      method: 'post',
      path: '/platform/dead-letters/:id/redrive',
      summary: 'Hand a dead letter to its consumer again',
      description:
        'One that is handled is gone afterwards; one that fails stays, with `redrivenAt` null. Its effect is there once, however often this ' +
        'is called. What was too large for NATS (`relay`) is a 409. Emits ' +
        '`dead_letter.redriven` in its workspace.',
      response: DeadLetter,
      errors: ['not_found', 'conflict', 'service_unavailable'],
      idempotency: 'none',
      handler: ({ params, meta }) => deadLetters.redrive(params.id, meta),
    }),

    defineRoute({
      ...operating,
      operationId: 'dropDeadLetter',
      stepUp: true,
      method: 'delete',
      path: '/platform/dead-letters/:id',
      summary: 'Delete a dead letter',
      description: 'What it is about is not done. Emits `dead_letter.dropped` in its workspace.',
      response: z.void(),
      status: 204,
      errors: ['not_found', 'service_unavailable'],
      handler: ({ params, meta }) => deadLetters.drop(params.id, meta),
    }),
  ]
}
