import { invalidTransition } from '@opsplane/contracts'

/** Statuses an action may lead to. The first one is the default. */
export type Targets<Status extends string> = readonly [Status, ...Status[]]

/** Per action, the statuses it applies to and the resulting ones. */
export type TransitionTable<Action extends string, Status extends string> = Readonly<
  Record<Action, Partial<Record<Status, Targets<Status>>>>
>

interface RuleOptions<Action extends string, Status extends string, State> {
  /** Actions in the order in which they are listed. */
  actions: readonly Action[]
  /** Returns `undefined` if the action does not apply to the state. */
  targets(action: Action, state: State): Targets<Status> | undefined
  /** Describes the state in error messages. */
  describe(state: State): string
  /** Describes the action in error messages. Defaults to its name. */
  label?(action: Action): string
}

/** Queries on a transition table, for deciders and the API. `State` is the part of a record that decides. */
export function transitionRules<Action extends string, Status extends string, State>({
  actions,
  targets,
  describe,
  label = (action) => action,
}: RuleOptions<Action, Status, State>) {
  const allowedActions = (state: State): Action[] =>
    actions.filter((action) => targets(action, state) !== undefined)
  return {
    allowedActions,
    /**
     * Returns the resulting status of `action`: `targetStatus` if it is one of several, otherwise the default.
     * Throws invalid_state_transition if the action does not apply.
     */
    statusAfter(action: Action, state: State, targetStatus?: Status): Status {
      const found = targets(action, state)
      if (found === undefined) throw invalidTransition(label(action), describe(state), allowedActions(state))
      return found.find((target) => target === targetStatus) ?? found[0]
    },
    /** Returns the first of `statusActions` that leads to `to`. Throws invalid_state_transition if there is none. */
    actionTo<StatusAction extends Action>(
      state: State,
      to: Status,
      statusActions: readonly StatusAction[],
    ): StatusAction {
      const action = statusActions.find((name) => targets(name, state)?.includes(to))
      if (action === undefined)
        throw invalidTransition(`become ${to}`, describe(state), allowedActions(state))
      return action
    },
  }
}

/** Rules of a table that depend on the status only. */
export const statusRules = <Action extends string, Status extends string>(
  actions: readonly Action[],
  table: TransitionTable<Action, Status>,
  label?: (action: Action) => string,
) =>
  transitionRules<Action, Status, Status>({
    actions,
    targets: (action, status) => table[action][status],
    describe: (status) => status,
    ...(label && { label }),
  })
