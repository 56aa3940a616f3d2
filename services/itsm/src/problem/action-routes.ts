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
    summary: 'Start assessing a new problem',
    description: 'Emits `problem.updated`.',
  },
  {
    kind: 'analyze',
    summary: 'Start the root cause analysis of a problem',
    description: 'Allowed for problems in assessment. Emits `problem.updated`.',
  },
  {
    kind: 'fix',
    summary: 'Start fixing a problem',
    description: 'Allowed for problems in root cause analysis. Emits `problem.updated`.',
  },
  {
    kind: 'mark_known_error',
    operationId: 'markKnownError',
    summary: 'Mark a problem as a known error',
    description:
      'Allowed until the problem is closed; requires a root cause and a workaround. Emits `problem.known_error`, ' +
      'unless the problem is already a known error.',
  },
  {
    kind: 'unmark_known_error',
    operationId: 'unmarkKnownError',
    summary: 'Unmark a problem as a known error',
    description:
      'Allowed until the problem is closed. Emits `problem.updated` if the problem was a known error.',
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
        'Allowed while the problem is open. Shortly afterwards, the workaround is added as a work note to every open ' +
        'incident linked to the problem. Emits `problem.workaround_published`, unless the same workaround is already ' +
        'published.',
      body: PublishWorkaround,
      handler: ({ params, body, meta }) => execute(params.id, { kind: 'publish_workaround', ...body }, meta),
    }),
    route.action('resolve', {
      errors: ['invalid_state_transition'],
      summary: 'Resolve a problem',
      description:
        'Allowed while the fix is in progress. Shortly afterwards, linked incidents that are on hold awaiting the ' +
        'problem are resolved if the resolution is `fix_applied`; with any other resolution they resume with a work ' +
        'note. Emits `problem.resolved`.',
      body: ResolveProblem,
      handler: ({ params, body, meta }) => execute(params.id, { kind: 'resolve', ...body }, meta),
    }),
    route.action('close', {
      errors: ['invalid_state_transition'],
      summary: 'Close a problem',
      description:
        'Allowed for resolved problems, and directly from assessment or root cause analysis with a resolution that ' +
        'is not a fix. In that case the linked incidents resume as after resolving. Emits `problem.closed`.',
      body: CloseProblem,
      handler: ({ params, body, meta }) => execute(params.id, { kind: 'close', ...body }, meta),
    }),
    route.action('reopen', {
      errors: ['invalid_state_transition'],
      summary: 'Reopen a resolved or closed problem',
      description:
        'Returns the problem to root cause analysis and removes the resolution. Emits `problem.reopened`.',
      body: ReopenProblem,
      handler: ({ params, body, meta }) => execute(params.id, { kind: 'reopen', ...body }, meta),
    }),
  ]
}
