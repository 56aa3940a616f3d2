import type { StateMachine, StateTransition } from '@opsplane/contracts'

/** Targets of an action in a table: one status, several, one under a condition, or several by condition. */
type Targets = string | readonly string[] | { to: string; only?: string } | Record<string, readonly string[]>
type Table = Record<string, Partial<Record<string, Targets>>>

/** Returns the API representation of a transition table. */
export function stateMachine(entity: string, statuses: readonly string[], table: Table): StateMachine {
  const transitions = Object.entries(table).flatMap(([action, sources]) =>
    Object.entries(sources).flatMap(([from, targets]) =>
      targets === undefined ? [] : toWays(targets).map((way) => ({ action, from, ...way })),
    ),
  )
  const leading = new Set(transitions.map(({ from }) => from))
  return {
    entity,
    statuses: statuses.map((name) => ({ name, final: !leading.has(name) })),
    actions: Object.keys(table),
    transitions,
  }
}

function toWays(targets: Targets): Pick<StateTransition, 'to' | 'condition'>[] {
  if (typeof targets === 'string') return [{ to: [targets], condition: null }]
  if (isList(targets)) return [{ to: [...targets], condition: null }]
  if (isConditional(targets)) return [{ to: [targets.to], condition: targets.only ?? null }]
  return Object.entries(targets).map(([condition, to]) => ({ to: [...to], condition }))
}

const isList = (targets: Targets): targets is readonly string[] => Array.isArray(targets)
const isConditional = (targets: object): targets is { to: string; only?: string } =>
  'to' in targets && typeof targets.to === 'string'
