import { CloseProblem, Problem, PublishWorkaround, ReopenProblem, ResolveProblem } from '@opsplane/contracts'
import { defineRoute, type RequestMeta, type Route } from '@opsplane/http'
import { transitionErrors } from '../transition-errors.js'
import type { ProblemStep } from './commands.js'
import type { ProblemStore } from './problem-store.js'
import { tag } from './routes.js'

const contract = {
  method: 'post',
  tag,
  scope: 'itsm:write',
  response: Problem,
  errors: transitionErrors,
} as const

/** The actions that take no fields. */
const plain = [
  {
    kind: 'assess',
    operationId: 'assessProblem',
    path: '/itsm/problems/:id/assess',
    summary: 'Begin to assess a new problem',
    description: 'Emits `problem.updated`.',
  },
  {
    kind: 'analyze',
    operationId: 'analyzeProblem',
    path: '/itsm/problems/:id/analyze',
    summary: 'Begin to look for the root cause',
    description: 'From assess. Emits `problem.updated`.',
  },
  {
    kind: 'fix',
    operationId: 'fixProblem',
    path: '/itsm/problems/:id/fix',
    summary: 'Begin to fix a problem',
    description: 'From root cause analysis. Emits `problem.updated`.',
  },
  {
    kind: 'mark_known_error',
    operationId: 'markKnownError',
    path: '/itsm/problems/:id/mark-known-error',
    summary: 'Mark a problem as a known error',
    description:
      'Until it is closed; needs a root cause and a workaround. Emits `problem.known_error`, unless it is one already.',
  },
  {
    kind: 'unmark_known_error',
    operationId: 'unmarkKnownError',
    path: '/itsm/problems/:id/unmark-known-error',
    summary: 'Take back that a problem is a known error',
    description: 'Until it is closed. Emits `problem.updated`, if it was one.',
  },
] as const

/** The actions, each with a route of its own. */
export function problemActionRoutes(problems: ProblemStore): Route[] {
  const execute = async (reference: string, step: ProblemStep, meta: RequestMeta): Promise<Problem> => {
    const id = await problems.findId(reference, meta.tenant)
    if (step.kind === 'resolve' || step.kind === 'close') return problems.end(id, step, meta)
    return problems.handle(id, { ...step, now: meta.now }, meta)
  }
  return [
    ...plain.map(({ kind, ...texts }) =>
      defineRoute({
        ...contract,
        ...texts,
        handler: ({ params, meta }) => execute(params.id, { kind }, meta),
      }),
    ),
    defineRoute({
      ...contract,
      operationId: 'publishWorkaround',
      path: '/itsm/problems/:id/publish-workaround',
      summary: 'Publish the workaround of a problem',
      description:
        'While the problem is open. Every open incident linked to it gets it as a work note, a moment later. Emits ' +
        '`problem.workaround_published`, unless this very workaround is published already.',
      body: PublishWorkaround,
      handler: ({ params, body, meta }) => execute(params.id, { kind: 'publish_workaround', ...body }, meta),
    }),
    defineRoute({
      ...contract,
      operationId: 'resolveProblem',
      path: '/itsm/problems/:id/resolve',
      summary: 'Resolve a problem',
      description:
        'From fix in progress. A moment later the linked incidents that are on hold awaiting the problem are ' +
        'resolved with `fix_applied`, and with any other resolution go on with a work note. Emits `problem.resolved`.',
      body: ResolveProblem,
      handler: ({ params, body, meta }) => execute(params.id, { kind: 'resolve', ...body }, meta),
    }),
    defineRoute({
      ...contract,
      operationId: 'closeProblem',
      path: '/itsm/problems/:id/close',
      summary: 'Close a problem',
      description:
        'When resolved; or at once, from assess or root cause analysis, with a resolution that is no fix. The linked ' +
        'incidents then go on as after resolving. Emits `problem.closed`.',
      body: CloseProblem,
      handler: ({ params, body, meta }) => execute(params.id, { kind: 'close', ...body }, meta),
    }),
    defineRoute({
      ...contract,
      operationId: 'reopenProblem',
      path: '/itsm/problems/:id/reopen',
      summary: 'Reopen a resolved or closed problem',
      description: 'Goes back to root cause analysis and drops the resolution. Emits `problem.reopened`.',
      body: ReopenProblem,
      handler: ({ params, body, meta }) => execute(params.id, { kind: 'reopen', ...body }, meta),
    }),
  ]
}
