import {
  DeadLetterChoice,
  DeadLettersQuestion,
  ServiceDeadLetter,
  ServiceDeadLetters,
  ServiceFigures,
} from '@opsplane/contracts'
import { defineRoute, type Route } from '@opsplane/http'
import { z } from 'zod'
import type { Operations } from './operations.js'

const internal = { tag: 'Internal', scope: 'service', callers: ['settings'], idempotency: 'none' } as const

/** By which settings gathers how all services are. */
export function operationsRoutes(operations: Operations): Route[] {
  return [
    defineRoute({
      ...internal,
      operationId: 'getFigures',
      method: 'get',
      path: '/internal/operations/figures',
      summary: 'Find out how far this service is with its events and its work',
      response: ServiceFigures,
      handler: () => operations.figures(),
    }),

    defineRoute({
      ...internal,
      operationId: 'listOwnDeadLetters',
      method: 'post',
      path: '/internal/operations/dead-letters',
      summary: 'Find out what consumers of this service have given up',
      body: DeadLettersQuestion,
      response: ServiceDeadLetters,
      handler: async ({ body }) => ({ items: await operations.deadLetters(body) }),
    }),

    defineRoute({
      ...internal,
      operationId: 'redriveOwnDeadLetter',
      method: 'post',
      path: '/internal/operations/dead-letters/redrive',
      summary: 'Hand a dead letter to its consumer again',
      body: DeadLetterChoice,
      response: ServiceDeadLetter,
      errors: ['not_found', 'conflict'],
      handler: ({ body }) => operations.redrive(body.number),
    }),

    defineRoute({
      ...internal,
      operationId: 'dropOwnDeadLetter',
      method: 'post',
      path: '/internal/operations/dead-letters/drop',
      summary: 'Delete a dead letter',
      body: DeadLetterChoice,
      response: z.object({}),
      errors: ['not_found'],
      handler: async ({ body }) => {
        await operations.drop(body.number)
        return {}
      },
    }),
  ]
}
