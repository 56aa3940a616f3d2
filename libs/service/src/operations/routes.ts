import {
  DeadLetterChoice,
  DeadLettersQuestion,
  DroppedDeadLetter,
  RedrivenDeadLetter,
  ServiceDeadLetters,
  ServiceFigures,
  WorkspaceFigures,
  WorkspaceFiguresQuestion,
} from '@opsplane/contracts'
import { defineRoute, type Route } from '@opsplane/http'
import type { Operations } from './operations.js'

const internal = { tag: 'Internal', scope: 'service', callers: ['settings'], idempotency: 'none' } as const

/** Internal routes by which settings collects the state of all services. */
export function operationsRoutes(operations: Operations): Route[] {
  return [
    defineRoute({
      ...internal,
      operationId: 'getFigures',
      method: 'get',
      path: '/internal/operations/figures',
      summary: 'Get the event and work progress of this service',
      response: ServiceFigures,
      handler: () => operations.figures(),
    }),

    defineRoute({
      ...internal,
      operationId: 'getWorkspaceFigures',
      method: 'get',
      path: '/internal/operations/workspace-figures',
      summary: 'Get the pending work of this service for one workspace',
      query: WorkspaceFiguresQuestion,
      response: WorkspaceFigures,
      handler: ({ query: { workspaceId } }) => operations.workspaceFigures(workspaceId),
    }),

    defineRoute({
      ...internal,
      operationId: 'listOwnDeadLetters',
      method: 'get',
      path: '/internal/operations/dead-letters',
      summary: 'List the dead letters of the consumers of this service',
      query: DeadLettersQuestion,
      response: ServiceDeadLetters,
      handler: async ({ query }) => ({ items: await operations.deadLetters(query) }),
    }),

    defineRoute({
      ...internal,
      operationId: 'redriveOwnDeadLetter',
      method: 'post',
      path: '/internal/operations/dead-letters/redrive',
      summary: 'Redrive a dead letter',
      body: DeadLetterChoice,
      response: RedrivenDeadLetter,
      handler: async ({ body }) => ({ letter: await operations.redrive(body.number) }),
    }),

    defineRoute({
      ...internal,
      operationId: 'dropOwnDeadLetter',
      method: 'post',
      path: '/internal/operations/dead-letters/drop',
      summary: 'Delete a dead letter',
      body: DeadLetterChoice,
      response: DroppedDeadLetter,
      handler: async ({ body }) => ({ dropped: await operations.drop(body.number) }),
    }),
  ]
}
