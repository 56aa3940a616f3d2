import type { AppAction, AppActionRequest } from '@opsplane/contracts'
import { ExpressionError, evaluateAsync, toMessage, toText } from '../expression/evaluate.js'
import { withoutEmpty } from './resolve-request.js'
import type { PageStore } from './store.js'

/** Effects of an action besides calling a source. */
export interface ActionHost {
  act(request: AppActionRequest): Promise<unknown>
  /** Whether the user confirms. */
  confirm(question: string): Promise<boolean>
  announce(message: string): void
  goTo(page: string, params: Readonly<Record<string, string>>): void
}

/** The submitted data of a form. */
export interface Submitted {
  values: Readonly<Record<string, unknown>>
  /** Fields whose value equals the record's; an update leaves them alone. */
  unchanged: ReadonlySet<string>
  /** The record's version when the form was first changed; `undefined` if the action has no version. */
  version: { value: unknown } | undefined
  /** Called after the request succeeded and before the follow-up of the action. */
  onDone(): void
}

/** Variables of an action's expressions in addition to those of the page. */
export interface ActionContext {
  row?: Readonly<Record<string, unknown>>
  form?: Submitted
}

/** Thrown if the action itself succeeded but its follow-up failed. */
export class FollowUpError extends Error {}

/** Performs an action. Returns false if the user did not confirm. Rejects with the error of the source call. */
export async function perform(
  action: AppAction,
  { row, form }: ActionContext,
  { store, host }: { store: PageStore; host: ActionHost },
): Promise<boolean> {
  const scope = { ...store.scope, ...(row && { row }), ...(form && { form: form.values }) }
  const { confirm, source } = action
  if (confirm !== undefined && !(await host.confirm(await required(confirm, scope, 'The question'))))
    return false
  const result = source === undefined ? null : await host.act(await requestOf(action, source, scope, form))
  form?.onDone()
  try {
    await follow(action.then, { ...scope, result }, { store, host })
  } catch (error) {
    throw new FollowUpError(`It is done, but what should follow is not: ${toMessage(error)}`, {
      cause: error,
    })
  }
  return true
}

async function follow(
  then: AppAction['then'],
  scope: Readonly<Record<string, unknown>>,
  { store, host }: { store: PageStore; host: ActionHost },
): Promise<void> {
  if (!then) return
  store.refresh(then.refresh)
  if (then.set) store.set((await evaluateAsync(then.set, scope)) as Record<string, unknown>)
  if (then.message !== undefined) host.announce(toText(await evaluateAsync(then.message, scope)))
  if (then.page === undefined) return
  const params = withoutEmpty(await evaluateAsync(then.pageParams ?? {}, scope))
  host.goTo(
    then.page,
    Object.fromEntries(Object.entries(params).map(([name, value]) => [name, toText(value)])),
  )
}

async function requestOf(
  { operation, params, id, values, version }: AppAction,
  source: string,
  scope: Readonly<Record<string, unknown>>,
  form: Submitted | undefined,
): Promise<AppActionRequest> {
  const changes = operation === 'create' || operation === 'update'
  const sent = changes ? await sentValues(operation, values, scope, form) : undefined
  return {
    source,
    params: withoutEmpty(await evaluateAsync(params, scope)) as AppActionRequest['params'],
    ...(operation !== undefined && { operation }),
    ...(id !== undefined && { id: await required(id, scope, 'The id of the record') }),
    ...(sent !== undefined && { values: sent as NonNullable<AppActionRequest['values']> }),
    ...(version !== undefined && { version: await versionOf(version, scope, form) }),
  }
}

/** Omits empty values of a new record, so that the table's defaults apply, and unchanged values of an update. */
async function sentValues(
  operation: 'create' | 'update',
  values: AppAction['values'],
  scope: Readonly<Record<string, unknown>>,
  form: Submitted | undefined,
): Promise<Record<string, unknown> | undefined> {
  const isUnchanged = (name: string) => operation === 'update' && form?.unchanged.has(name)
  const sent =
    values === undefined
      ? form && without(form.values, (name) => isUnchanged(name))
      : await evaluateAsync(
          without(values, (_, template) => isUnchanged(fieldIn(template) ?? '')),
          scope,
        )
  return sent === undefined || operation === 'update' ? (sent as Record<string, unknown>) : withoutEmpty(sent)
}

/** The form field, if the template is only a reference to it, as in `{{ form.name }}`. */
const fieldIn = (template: unknown): string | undefined =>
  typeof template === 'string' ? /^\{\{\s*form\.(\w+)\s*\}\}$/.exec(template)?.[1] : undefined

const without = (
  values: Readonly<Record<string, unknown>>,
  isLeftOut: (name: string, value: unknown) => boolean | undefined,
): Record<string, unknown> =>
  Object.fromEntries(Object.entries(values).filter(([name, value]) => !isLeftOut(name, value)))

/** Throws if the version is unknown: sending none would skip the check. */
async function versionOf(
  template: string,
  scope: Readonly<Record<string, unknown>>,
  form: Submitted | undefined,
): Promise<number> {
  const value = form?.version ? form.version.value : await evaluateAsync(template, scope)
  const version = value === null || value === '' ? Number.NaN : Number(value)
  if (Number.isSafeInteger(version)) return version
  throw new ExpressionError(`The version of the record is not known: ${template} has come to no number.`)
}

async function required(
  template: string,
  scope: Readonly<Record<string, unknown>>,
  label: string,
): Promise<string> {
  const text = toText(await evaluateAsync(template, scope))
  if (text !== '') return text
  throw new ExpressionError(`${label} is not known: ${template} has come to nothing.`)
}
