import { evaluated, messageOf, textOf } from '../expression/evaluate.js'
import type { ExpressionScope } from '../expression/scope.js'
import { keyOf, type Wanted } from './data-cache.js'
import type { Typed } from './input-values.js'
import type { ChoiceInput, Need } from './needs.js'

/** What is to be loaded; or why that is not known, so that nothing is. */
export type Asked = { wanted: Wanted } | { error: string }

/** What is in inputs that choose, and looked for among their options. */
export interface Choices {
  typed(input: ChoiceInput): Typed
  searched(input: ChoiceInput): string
}

/** Undefined for what is not shown, or has nothing to ask for. An expression that fails is never taken for no parameter. */
export async function askedBy(
  { source, params, visible, choice }: Need,
  scope: ExpressionScope,
  choices: Choices,
): Promise<Asked | undefined> {
  try {
    const shown = await Promise.all(visible.map((template) => evaluated(template, scope)))
    if (!shown.every(isShown)) return undefined
    const own = withoutEmpty(await evaluated(params, scope))
    const more = choice === undefined ? {} : chosenBy(choice, choices)
    return more && { wanted: { source, params: { ...own, ...more } } }
  } catch (error) {
    return { error: messageOf(error) }
  }
}

/** The parameters of an input's options; undefined where it has none. */
function chosenBy({ input, has }: NonNullable<Need['choice']>, choices: Choices) {
  const { options } = input
  if (Array.isArray(options)) return undefined
  const [name, value] =
    has === 'options'
      ? [options.search, choices.searched(input)]
      : [options.find, textOf(choices.typed(input))]
  if (has === 'chosen' && value === '') return undefined
  return name === undefined ? {} : withoutEmpty({ [name]: value })
}

/** What `visible` has given; a text may have come of an expression within one. */
export const isShown = (value: unknown): boolean => Boolean(value) && value !== 'false'

/** Parameters that are empty are not sent. */
export function withoutEmpty(params: unknown): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(params as Record<string, unknown>).filter(([, value]) => value !== null && value !== ''),
  )
}

export const sameAsked = (left: ReadonlyMap<Need, Asked>, right: ReadonlyMap<Need, Asked>): boolean =>
  left.size === right.size && [...left].every(([need, asked]) => isSame(asked, right.get(need)))

export const isSame = (asked: Asked, other: Asked | undefined): boolean =>
  other !== undefined && textOfAsked(other) === textOfAsked(asked)

const textOfAsked = (asked: Asked): string => ('wanted' in asked ? keyOf(asked.wanted) : `! ${asked.error}`)
