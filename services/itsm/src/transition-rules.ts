import { invalidTransition } from '@opsplane/contracts'

/** The statuses an action leads to; the first one is the default. */
export type Targets<Status extends string> = readonly [Status, ...Status[]]

/** Per action, the statuses it applies to and where it leads from each. */
export type TransitionTable<Action extends string, Status extends string> = Readonly<
  Record<Action, Partial<Record<Status, Targets<Status>>>>
>

interface RuleOptions<Action extends string, Status extends string, State> {
  /** In the order in which they are listed. */
  actions: readonly Action[]
  /** Undefined where the action does not apply to the state. */
  targets(action: Action, state: State): Targets<Status> | undefined
  /** The state in words, for errors. */
  describe(state: State): string
  /** The action in words, for errors; its name unless given. */
  label?(action: Action): string
}

/** The three questions a decider and the API ask of a table of transitions. `State`: the part of a record that decides. */
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
    /** The status `action` leads to: `wanted` where it is among several. Throws invalid_state_transition where there is none. */
    statusAfter(action: Action, state: State, wanted?: Status): Status {
      const found = targets(action, state)
      if (found === undefined) throw invalidTransition(label(action), describe(state), allowedActions(state))
      return found.find((target) => target === wanted) ?? found[0]
    },
    /** The first of `statusActions` that leads to `to`. Throws invalid_state_transition where none does. */
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

/** The rules of a table that depend on the status alone. */
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
