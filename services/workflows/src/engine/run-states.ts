import type { RunAction, RunStatus, StateMachine, workflowEvents } from '@opsplane/contracts'

type RunEvent = Extract<keyof typeof workflowEvents, `workflow.run_${string}`>

interface Change {
  /** Target statuses, by the current status. */
  from: Partial<Record<RunStatus, readonly RunStatus[]>>
  /** Statuses in which the change applies only under the described condition. */
  condition?: Partial<Record<RunStatus, string>>
}

const live = ['running', 'waiting', 'paused'] as const
const endedStatuses = ['completed', 'failed', 'cancelled', 'dead'] as const
const everyLive = <To>(to: To) => ({ queued: to, running: to, waiting: to, paused: to })

/**
 * All changes of a run's status: first the actions of people, then those of its steps. If several statuses may follow,
 * the run is `running` while work is in progress, otherwise `paused` if an approval is awaited, otherwise `waiting`.
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

/** Actions allowed in this status; `resume` decides on an approval. */
export function allowedRunActions(status: RunStatus): RunAction[] {
  const actions = ['cancel', 'retry', 'resume'] as const
  return actions.filter((action) => leadsOn(action, status).length > 0)
}

const leadsOn = (change: RunChange, status: RunStatus): readonly RunStatus[] =>
  (changes[change] as Change).from[status] ?? []

/** Whether any change leads from one status to the other. */
export const canBecome = (from: RunStatus, to: RunStatus): boolean =>
  (Object.keys(changes) as RunChange[]).some((change) => leadsOn(change, from).includes(to))

export const isFinal = (status: RunStatus): boolean => endedStatuses.some((each) => each === status)

/** The event published for a change of status; `null` for none. */
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

/** The transition table as returned by the API. */
export const runStateMachine: StateMachine = {
  entity: 'run',
  statuses: ['queued', ...live, ...endedStatuses].map((name) => ({ name, final: name === 'completed' })),
  actions: Object.keys(changes),
  transitions: Object.entries(changes).flatMap(([action, { from, ...rest }]) =>
    Object.entries(from).map(([status, to]) => ({
      action,
      from: status,
      to: [...to],
      condition: findCondition(rest, status as RunStatus),
    })),
  ),
}

function findCondition({ condition }: Omit<Change, 'from'>, status: RunStatus): string | null {
  return condition?.[status] ?? null
}
