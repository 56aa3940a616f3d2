import { evaluateAsync, toMessage, toText } from '../expression/evaluate.js'
import type { ExpressionScope } from '../expression/scope.js'
import { type DataRequest, toCacheKey } from './data-cache.js'
import type { Typed } from './input-values.js'
import type { ChoiceInput, Need } from './needs.js'

/** The request to load, or the reason why it cannot be determined; nothing is loaded then. */
export type ResolvedRequest = { wanted: DataRequest } | { error: string }

/** The values of choice inputs, and the search texts for their options. */
export interface Choices {
  typed(input: ChoiceInput): Typed
  searched(input: ChoiceInput): string
}

/**
 * `undefined` for data that is not shown, or that needs no request. A failed expression never counts as an absent
 * parameter.
 */
export async function resolveRequest(
  { source, params, visible, choice }: Need,
  scope: ExpressionScope,
  choices: Choices,
): Promise<ResolvedRequest | undefined> {
  try {
    const shown = await Promise.all(visible.map((template) => evaluateAsync(template, scope)))
    if (!shown.every(isShown)) return undefined
    const own = withoutEmpty(await evaluateAsync(params, scope))
    const more = choice === undefined ? {} : chosenBy(choice, choices)
    return more && { wanted: { source, params: { ...own, ...more } } }
  } catch (error) {
    return { error: toMessage(error) }
  }
}

/**
 * The additional parameters for an input's options; `undefined` if there is nothing to load, because the options are
 * fixed or no value is chosen.
 */
function chosenBy({ input, has }: NonNullable<Need['choice']>, choices: Choices) {
  const { options } = input
  if (Array.isArray(options)) return undefined
  const [name, value] =
    has === 'options'
      ? [options.search, choices.searched(input)]
      : [options.find, toText(choices.typed(input))]
  if (has === 'chosen' && value === '') return undefined
  return name === undefined ? {} : withoutEmpty({ [name]: value })
}

/** Interprets the result of `visible`. A text such as `'false'` can come from an expression within a longer text. */
export const isShown = (value: unknown): boolean => Boolean(value) && value !== 'false'

/** Omits empty parameters. */
export function withoutEmpty(params: unknown): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(params as Record<string, unknown>).filter(([, value]) => value !== null && value !== ''),
  )
}

export const areSameRequests = (
  left: ReadonlyMap<Need, ResolvedRequest>,
  right: ReadonlyMap<Need, ResolvedRequest>,
): boolean =>
  left.size === right.size && [...left].every(([need, asked]) => isSameRequest(asked, right.get(need)))

export const isSameRequest = (asked: ResolvedRequest, other: ResolvedRequest | undefined): boolean =>
  other !== undefined && requestKey(other) === requestKey(asked)

const requestKey = (request: ResolvedRequest): string =>
  'wanted' in request ? toCacheKey(request.wanted) : `! ${request.error}`
