import { toText } from '../expression/evaluate.js'
import type { Row } from './data-cache.js'
import { readField } from './format.js'
import type { ChoiceInput } from './needs.js'
import type { PageStore } from './store.js'

export interface Option {
  value: string
  label: string
}

/** The options to choose from, plus the chosen value if it is not among them. */
export function listOptions(store: PageStore, input: ChoiceInput): readonly Option[] {
  const options = listed(store, input)
  const chosen = toText(store.inputs.typed(input))
  if (chosen === '' || options.some(({ value }) => value === chosen)) return options
  return [chosenOption(store, input, chosen), ...options]
}

function listed(store: PageStore, { options }: ChoiceInput): readonly Option[] {
  if (Array.isArray(options)) return options
  return store.loaded(options.source, options.params).rows.map((row) => optionIn(row, options))
}

function chosenOption(store: PageStore, input: ChoiceInput, value: string): Option {
  const { options } = input
  const found = Array.isArray(options)
    ? undefined
    : store
        .chosen(input)
        ?.rows.map((row) => optionIn(row, options))
        .find((option) => option.value === value)
  return found ?? { value, label: value }
}

const optionIn = (row: Row, fields: { value: string; label: string }): Option => ({
  value: toText(readField(row, fields.value)),
  label: toText(readField(row, fields.label)),
})
