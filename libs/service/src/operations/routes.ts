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
      summary: 'Find out how far this service is with its events and its work',
      response: ServiceFigures,
      handler: () => operations.figures(),
    }),

    defineRoute({
      ...internal,
      operationId: 'getWorkspaceFigures',
      method: 'get',
      path: '/internal/operations/workspace-figures',
      summary: 'Find out what is left to do in this service for one workspace',
      query: WorkspaceFiguresQuestion,
      response: WorkspaceFigures,
      handler: ({ query: { workspaceId } }) => operations.workspaceFigures(workspaceId),
    }),

    defineRoute({
      ...internal,
      operationId: 'listOwnDeadLetters',
      method: 'get',
      path: '/internal/operations/dead-letters',
      summary: 'Find out what consumers of this service have given up',
      query: DeadLettersQuestion,
      response: ServiceDeadLetters,
      handler: async ({ query }) => ({ items: await operations.deadLetters(query) }),
    }),

    defineRoute({
      ...internal,
      operationId: 'redriveOwnDeadLetter',
      method: 'post',
      path: '/internal/operations/dead-letters/redrive',
      summary: 'Hand a dead letter to its consumer again',
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
