import {
  CloseProblem,
  type Problem,
  PublishWorkaround,
  ReopenProblem,
  ResolveProblem,
} from '@opsplane/contracts'
import type { RequestMeta, Route } from '@opsplane/http'
import type { ProblemStep } from './commands.js'
import type { ProblemStore } from './problem-store.js'
import { route } from './routes.js'

/** Actions without parameters. */
const plain = [
  {
    kind: 'assess',
    summary: 'Begin to assess a new problem',
    description: 'Emits `problem.updated`.',
  },
  {
    kind: 'analyze',
    summary: 'Begin to look for the root cause',
    description: 'From assess. Emits `problem.updated`.',
  },
  {
    kind: 'fix',
    summary: 'Begin to fix a problem',
    description: 'From root cause analysis. Emits `problem.updated`.',
  },
  {
    kind: 'mark_known_error',
    operationId: 'markKnownError',
    summary: 'Mark a problem as a known error',
    description:
      'Until it is closed; needs a root cause and a workaround. Emits `problem.known_error`, unless it is one already.',
  },
  {
    kind: 'unmark_known_error',
    operationId: 'unmarkKnownError',
    summary: 'Take back that a problem is a known error',
    description: 'Until it is closed. Emits `problem.updated`, if it was one.',
  },
] as const

/** Routes of the actions, each with a dedicated path. */
export function problemActionRoutes(problems: ProblemStore): Route[] {
  const execute = async (reference: string, step: ProblemStep, meta: RequestMeta): Promise<Problem> => {
    const id = await problems.findId(reference, meta.tenant)
    if (step.kind === 'resolve' || step.kind === 'close') return problems.end(id, step, meta)
    return problems.handle(id, { ...step, now: meta.now }, meta)
  }
  return [
    ...plain.map(({ kind, ...texts }) =>
      route.action(kind.replaceAll('_', '-'), {
        ...texts,
        errors: ['invalid_state_transition'],
        handler: ({ params, meta }) => execute(params.id, { kind }, meta),
      }),
    ),
    route.action('publish-workaround', {
      errors: ['invalid_state_transition'],
      operationId: 'publishWorkaround',
      summary: 'Publish the workaround of a problem',
      description:
        'While the problem is open. Every open incident linked to it gets it as a work note, a moment later. Emits ' +
        '`problem.workaround_published`, unless this very workaround is published already.',
      body: PublishWorkaround,
      handler: ({ params, body, meta }) => execute(params.id, { kind: 'publish_workaround', ...body }, meta),
    }),
    route.action('resolve', {
      errors: ['invalid_state_transition'],
      summary: 'Resolve a problem',
      description:
        'From fix in progress. A moment later the linked incidents that are on hold awaiting the problem are ' +
        'resolved with `fix_applied`, and with any other resolution go on with a work note. Emits `problem.resolved`.',
      body: ResolveProblem,
      handler: ({ params, body, meta }) => execute(params.id, { kind: 'resolve', ...body }, meta),
    }),
    route.action('close', {
      errors: ['invalid_state_transition'],
      summary: 'Close a problem',
      description:
        'When resolved; or at once, from assess or root cause analysis, with a resolution that is no fix. The linked ' +
        'incidents then go on as after resolving. Emits `problem.closed`.',
      body: CloseProblem,
      handler: ({ params, body, meta }) => execute(params.id, { kind: 'close', ...body }, meta),
    }),
    route.action('reopen', {
      errors: ['invalid_state_transition'],
      summary: 'Reopen a resolved or closed problem',
      description: 'Goes back to root cause analysis and drops the resolution. Emits `problem.reopened`.',
      body: ReopenProblem,
      handler: ({ params, body, meta }) => execute(params.id, { kind: 'reopen', ...body }, meta),
    }),
  ]
}
