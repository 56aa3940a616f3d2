import type { RunAction, RunStatus, StateMachine, workflowEvents } from '@opsplane/contracts'

type RunEvent = Extract<keyof typeof workflowEvents, `workflow.run_${string}`>

interface Change {
  /** Where it leads, by where from. */
  from: Partial<Record<RunStatus, readonly RunStatus[]>>
  /** Where only what is said applies. */
  condition?: Partial<Record<RunStatus, string>>
}

const live = ['running', 'waiting', 'paused'] as const
const ended = ['completed', 'failed', 'cancelled', 'dead'] as const
const everyLive = <To>(to: To) => ({ queued: to, running: to, waiting: to, paused: to })

/**
 * The whole life of a run: what people do, and below that what its steps do. Where several statuses follow, it is
 * `running` while something is done, else `paused` where an approval is awaited, else `waiting`.
 */
const changes = {
  cancel: { from: everyLive(['cancelled']) },
  retry: { from: { failed: ['queued'], cancelled: ['queued'], dead: ['queued'] } },
  resume: {
    from: {
      paused: ['running', 'paused', 'waiting', 'completed', 'failed'],
      running: ['running', 'completed', 'failed'],
    },
    condition: { running: 'other steps are active besides the approval' },
  },
  start: { from: { queued: ['running'] } },
  step: {
    from: {
      running: ['running', 'waiting', 'paused', 'completed', 'failed'],
      waiting: ['running', 'waiting', 'completed', 'failed'],
      paused: ['running', 'waiting', 'paused', 'completed', 'failed'],
    },
  },
  abandon: { from: everyLive(['dead']) },
} as const satisfies Record<string, Change>

type RunChange = keyof typeof changes

/** What people can do to a run in this status; `resume` is to decide on an approval. */
export function allowedRunActions(status: RunStatus): RunAction[] {
  const actions = ['cancel', 'retry', 'resume'] as const
  return actions.filter((action) => leadsOn(action, status).length > 0)
}

const leadsOn = (change: RunChange, status: RunStatus): readonly RunStatus[] =>
  (changes[change] as Change).from[status] ?? []

/** Whether the table has a way from one status to the other. */
export const canBecome = (from: RunStatus, to: RunStatus): boolean =>
  (Object.keys(changes) as RunChange[]).some((change) => leadsOn(change, from).includes(to))

export const isFinal = (status: RunStatus): boolean => ended.some((each) => each === status)

/** What the catalogue says of a change of status; null where that is nothing. */
export function runEvent(from: RunStatus, to: RunStatus): RunEvent | null {
  if (from === to) return null
  switch (to) {
    case 'queued':
      return 'workflow.run_retried'
    case 'running':
      if (from === 'queued') return 'workflow.run_started'
      return from === 'paused' ? 'workflow.run_resumed' : null
    case 'waiting':
      return from === 'paused' ? 'workflow.run_resumed' : null
    default:
      return `workflow.run_${to}`
  }
}

/** The table as the API shows it. */
export const runStateMachine: StateMachine = {
  entity: 'run',
  statuses: ['queued', ...live, ...ended].map((name) => ({ name, final: name === 'completed' })),
  actions: Object.keys(changes),
  transitions: Object.entries(changes).flatMap(([action, { from, ...rest }]) =>
    Object.entries(from).map(([status, to]) => ({
      action,
      from: status,
      to: [...to],
      condition: conditionOf(rest, status as RunStatus),
    })),
  ),
}

function conditionOf({ condition }: Omit<Change, 'from'>, status: RunStatus): string | null {
  return condition?.[status] ?? null
}
