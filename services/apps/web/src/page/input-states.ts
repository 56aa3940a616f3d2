import type { InputComponent } from '@opsplane/contracts'
import { toText } from '../expression/evaluate.js'
import type { Begun, PageDraft } from './drafts.js'
import { changedValue, inputValue, type Typed, toTyped } from './input-values.js'
import type { FormComponent, PageNeeds } from './needs.js'

/** The result of an expression, or the reason it failed. */
export type Outcome = { value: unknown; error?: undefined } | { value?: undefined; error: string }

/** State that follows from the current data of the page: initial values of inputs, and record versions of forms. */
export interface InitialStates {
  inputs: Readonly<Record<string, Outcome>>
  versions: Readonly<Record<string, Outcome>>
}

/** A field changed by the user or by others meanwhile, with the values as its control shows them. */
export interface Difference {
  field: InputComponent
  before: Typed
  mine: Typed
  theirs: Typed
}

/** The values of the inputs of a page: the typed value, or else the value of their `value` expression. */
export class InputStates {
  readonly #typed: Map<string, Typed>
  /** For each changed form its original values and version: they show which fields changed, and since when. */
  readonly #begun: Map<string, Begun>
  #beginning: InitialStates = { inputs: {}, versions: {} }

  constructor(
    private readonly needs: PageNeeds,
    draft: PageDraft | undefined,
  ) {
    this.#typed = new Map(
      needs.inputs.flatMap((input) => {
        const typedValue = draft?.typed[input.id]
        // Another deployment may have a different input with this id.
        const fits =
          typedValue !== undefined && (input.type === 'checkbox') === (typeof typedValue !== 'string')
        return fits ? [[input.id, typedValue]] : []
      }),
    )
    this.#begun = new Map(Object.entries(draft?.begun ?? {}))
  }

  get beginning(): InitialStates {
    return this.#beginning
  }

  follow(initialStates: InitialStates): void {
    this.#beginning = initialStates
  }

  typed(input: InputComponent): Typed {
    const typedValue = this.#typed.get(input.id)
    return typedValue === undefined ? toTyped(input, this.#now(input)) : typedValue
  }

  /** The value of the input in expressions. */
  value(input: InputComponent): unknown {
    const now = this.#now(input)
    // Keeps the full precision of the seconds.
    if (input.type === 'datetime_input' && !this.#typed.has(input.id) && toTyped(input, now) !== '')
      return toText(now)
    return inputValue(input, this.typed(input))
  }

  /** The reason why an untouched input has no value. */
  failure({ id }: InputComponent): string | undefined {
    return this.#typed.has(id) ? undefined : this.#beginning.inputs[id]?.error
  }

  type(input: InputComponent, typedValue: Typed): void {
    const form = this.#formOf(input)
    if (form && !this.#begun.has(form.id)) this.#begun.set(form.id, this.#formNow(form))
    this.#typed.set(input.id, typedValue)
    if (form && !this.hasChanges(form)) this.reset(form.fields)
  }

  /** Sets inputs by their ids, for actions. */
  set(values: Readonly<Record<string, unknown>>): void {
    for (const input of this.needs.inputs)
      if (Object.hasOwn(values, input.id)) this.type(input, toTyped(input, values[input.id]))
  }

  reset(inputs: readonly InputComponent[]): void {
    for (const { id } of inputs) this.#typed.delete(id)
    for (const { id, fields } of this.needs.forms)
      if (fields.some((each) => inputs.includes(each))) this.#begun.delete(id)
  }

  isChanged(input: InputComponent): boolean {
    const typedValue = this.#typed.get(input.id)
    return typedValue !== undefined && typedValue !== toTyped(input, this.before(input))
  }

  hasChanges({ fields }: FormComponent): boolean {
    return fields.some((field) => this.isChanged(field))
  }

  hasUnsaved(): boolean {
    return this.needs.forms.some((form) => this.hasChanges(form))
  }

  /** The value of an input before the user changed it. */
  before(input: InputComponent): unknown {
    const form = this.#formOf(input)
    const begun = form && this.#begun.get(form.id)?.values
    return begun && Object.hasOwn(begun, input.id) ? begun[input.id] : this.#now(input)
  }

  /** Values for an update: an unchanged field keeps the record's value. */
  updated({ fields }: FormComponent): Record<string, unknown> {
    return Object.fromEntries(
      fields.map((field) => {
        const before = this.before(field)
        const value = this.isChanged(field) ? changedValue(field, this.typed(field), before) : before
        return [field.id, value ?? null]
      }),
    )
  }

  /** The record's version when its form was first changed; the current version if the form is unchanged. */
  version({ id }: FormComponent): Outcome | undefined {
    const begun = this.#begun.get(id)
    return begun ? { value: begun.version } : this.#beginning.versions[id]
  }

  differences({ fields }: FormComponent): Difference[] {
    return fields
      .map((field) => ({
        field,
        before: toTyped(field, this.before(field)),
        mine: this.typed(field),
        theirs: toTyped(field, this.#now(field)),
      }))
      .filter(({ field, before, theirs }) => this.isChanged(field) || theirs !== before)
  }

  /** Resets the starting point of a form to the current record; the fields in `untouched` take the record's values. */
  rebase(form: FormComponent, untouched: readonly InputComponent[]): void {
    for (const { id } of untouched) this.#typed.delete(id)
    this.#begun.set(form.id, this.#formNow(form))
    if (!this.hasChanges(form)) this.reset(form.fields)
  }

  draft(): PageDraft {
    return { typed: Object.fromEntries(this.#typed), begun: Object.fromEntries(this.#begun) }
  }

  #formOf(input: InputComponent): FormComponent | undefined {
    return this.needs.forms.find(({ fields }) => fields.includes(input))
  }

  #formNow({ id, fields }: FormComponent): Begun {
    const values = Object.fromEntries(fields.map((field) => [field.id, this.#now(field) ?? null]))
    return { values, version: this.#beginning.versions[id]?.value }
  }

  #now({ id }: InputComponent): unknown {
    return this.#beginning.inputs[id]?.value
  }
}
