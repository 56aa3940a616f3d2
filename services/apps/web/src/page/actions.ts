import type { AppAction, AppActionRequest } from '@opsplane/contracts'
import { evaluated, textOf } from '../expression/evaluate.js'
import type { PageStore } from './store.js'
import { withoutEmpty } from './store.js'

/** What an action does beside calling a source. */
export interface ActionHost {
  act(request: AppActionRequest): Promise<unknown>
  /** Whether whoever is asked agrees. */
  confirm(question: string): Promise<boolean>
  announce(message: string): void
  goTo(page: string, params: Readonly<Record<string, string>>): void
}

/** What the expressions of an action see beside the page. */
export interface ActionContext {
  row?: Readonly<Record<string, unknown>>
  form?: Readonly<Record<string, unknown>>
}

/** Does what an action says; false where it was not agreed to. Rejects with what the call of its source rejects with. */
export async function perform(
  action: AppAction,
  context: ActionContext,
  { store, host }: { store: PageStore; host: ActionHost },
): Promise<boolean> {
  const scope = { ...store.scope, ...context }
  const text = async (template: unknown, seen: object = scope) =>
    textOf(await evaluated(template, { ...seen }))
  if (action.confirm !== undefined && !(await host.confirm(await text(action.confirm)))) return false
  const result =
    action.source === undefined ? null : await host.act(await requestOf(action, action.source, scope))
  const { then } = action
  if (!then) return true
  const after = { ...scope, result }
  if (then.set) store.set((await evaluated(then.set, after)) as Record<string, unknown>)
  store.refresh(then.refresh)
  if (then.message !== undefined) host.announce(await text(then.message, after))
  if (then.page !== undefined) {
    const params = withoutEmpty(await evaluated(then.pageParams ?? {}, after))
    host.goTo(
      then.page,
      Object.fromEntries(Object.entries(params).map(([name, value]) => [name, textOf(value)])),
    )
  }
  return true
}

async function requestOf(
  { operation, params, id, values, version }: AppAction,
  source: string,
  scope: ActionContext & Record<string, unknown>,
): Promise<AppActionRequest> {
  const changes = operation === 'create' || operation === 'update'
  const sent = values === undefined ? scope.form : await evaluated(values, scope)
  const expected = version === undefined ? undefined : Number(await evaluated(version, scope))
  return {
    source,
    params: withoutEmpty(await evaluated(params, scope)) as AppActionRequest['params'],
    ...(operation !== undefined && { operation }),
    ...(id !== undefined && { id: textOf(await evaluated(id, scope)) }),
    ...(changes && sent !== undefined && { values: valuesOf(operation, sent) }),
    ...(expected !== undefined && Number.isInteger(expected) && { version: expected }),
  }
}

/** What is empty is left out of what is new, so that the table's defaults hold. */
const valuesOf = (operation: 'create' | 'update', sent: unknown) =>
  (operation === 'create' ? withoutEmpty(sent) : sent) as NonNullable<AppActionRequest['values']>
