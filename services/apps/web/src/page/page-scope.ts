import type { InputComponent } from '@opsplane/contracts'
import { ExpressionError } from '../expression/evaluate.js'
import type { ExpressionScope } from '../expression/scope.js'
import type { Loaded } from './data-cache.js'
import type { InputStates } from './input-states.js'
import type { PageStoreOptions } from './store-options.js'

interface Parts extends Pick<PageStoreOptions, 'page' | 'user'> {
  inputs: readonly InputComponent[]
  states: InputStates
  data: readonly { source: string; id: string | undefined; loaded: Loaded }[]
}

/**
 * Variables of a page's expressions. An expression that reads a failed input or failed data fails as well, so that
 * nothing is loaded or shown as if the value did not exist.
 */
export function buildPageScope({ page, user, inputs, states, data }: Parts): ExpressionScope {
  const values: Record<string, unknown> = {}
  for (const input of inputs) {
    if (states.failure(input) === undefined) values[input.id] = states.value(input)
    else failing(values, input.id, `the input ${input.label} has no value`)
  }
  const shown: Record<string, unknown> = {}
  for (const { source, id, loaded } of data) {
    const seen = guardFailedData(loaded, id ?? source)
    if (id !== undefined) shown[id] = seen
    shown[source] ??= seen
  }
  return { inputs: values, data: shown, user, page: { slug: page.slug, params: page.params } }
}

/** Data that was loaded before a failure stays readable. */
function guardFailedData(loaded: Loaded, name: string): object {
  const { error, rows, value, ...rest } = loaded
  if (error === null || rows.length > 0 || value !== null) return loaded
  const seen = { ...rest, error }
  for (const field of ['rows', 'value']) failing(seen, field, `${name} could not be read`)
  return seen
}

function failing(object: object, name: string, message: string): void {
  const get = () => {
    throw new ExpressionError(message)
  }
  Object.defineProperty(object, name, { enumerable: true, get })
}
