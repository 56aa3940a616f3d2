import type { InputComponent } from '@opsplane/contracts'
import { evaluateAsync, namedData, toMessage } from '../expression/evaluate.js'
import type { ExpressionScope } from '../expression/scope.js'
import {
  DataCache,
  type DataRequest,
  isFirst,
  type Loaded,
  nothingLoaded,
  toFailedData,
} from './data-cache.js'
import { findDependencies } from './dependencies.js'
import { type InitialStates, InputStates, type Outcome } from './input-states.js'
import type { Typed } from './input-values.js'
import { type ChoiceInput, type FormComponent, findNeeds, type Need, type PageNeeds } from './needs.js'
import { buildPageScope } from './page-scope.js'
import { areSameRequests, isSameRequest, type ResolvedRequest, resolveRequest } from './resolve-request.js'
import type { PageStoreOptions } from './store-options.js'

/** Maximum consecutive rounds in which loaded data may lead to further loads. */
const maxRounds = 20
const pauseMs = 250

/** The state of a page: the values of its inputs, and the data of its sources. */
export class PageStore {
  readonly inputs: InputStates
  readonly #needs: PageNeeds
  readonly #dependencies: ReadonlyMap<Need, ReadonlySet<Need>>
  readonly #data: DataCache
  readonly #listeners = new Set<() => void>()
  /** Search text for the options of each input. */
  readonly #searched = new Map<string, string>()
  #asked = new Map<Need, ResolvedRequest>()
  #scope: ExpressionScope
  #revision = 0
  #rounds = 0
  #pause: ReturnType<typeof setTimeout> | undefined

  constructor(private readonly options: PageStoreOptions) {
    this.#needs = findNeeds(options.page.components)
    this.#dependencies = findDependencies(this.#needs)
    this.inputs = new InputStates(this.#needs, options.draft)
    this.#data = new DataCache(options.load, () => this.#changed())
    this.#scope = this.#makeScope()
  }

  get scope(): ExpressionScope {
    return this.#scope
  }

  /** Calls the listener after every change, each with a new scope. Returns a function that removes the listener. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Starts loading. */
  start(): Promise<void> {
    return this.#settle()
  }

  /** Loads data for typed text only after a pause in typing. */
  type(input: InputComponent, typedValue: Typed): void {
    this.inputs.type(input, typedValue)
    this.#keep()
    this.#afterPause()
  }

  /** Sets inputs by their ids. */
  set(values: Readonly<Record<string, unknown>>): void {
    this.inputs.set(values)
    this.#byHand()
  }

  /** Resets inputs to their `value`. */
  reset(inputs: readonly InputComponent[]): void {
    this.inputs.reset(inputs)
    this.#byHand()
  }

  /** Resets the starting point of a form to its current record; the fields in `untouched` take the record's values. */
  rebase(form: FormComponent, untouched: readonly InputComponent[]): void {
    this.inputs.rebase(form, untouched)
    this.#byHand()
  }

  /**
   * The data of a component, by its place in the page: two components may use the same source with different
   * parameters.
   */
  loaded(source: string, params: Need['params']): Loaded {
    return this.#loadedFor(this.#need(source, params))
  }

  /** The chosen option of an input, if its source can look options up by value. */
  chosen(input: ChoiceInput): Loaded | undefined {
    const need = this.#needs.needs.find(({ choice }) => choice?.has === 'chosen' && choice.input === input)
    return need && this.#asked.has(need) ? this.#loadedFor(need) : undefined
  }

  searched(input: ChoiceInput): string {
    return this.#searched.get(input.id) ?? ''
  }

  searchOptions(input: ChoiceInput, text: string): void {
    this.#searched.set(input.id, text)
    this.#afterPause()
  }

  more(source: string, params: Need['params']): void {
    const need = this.#need(source, params)
    const request = need && this.#asked.get(need)
    if (request && 'wanted' in request) void this.#data.more(request.wanted)
  }

  refresh(sources: readonly string[]): void {
    this.#rounds = 0
    void this.#data.refresh(sources)
  }

  /** Reloads the data that these templates refer to, and waits until all data that depends on it is loaded. */
  async refreshNamed(templates: unknown): Promise<void> {
    const names = namedData(templates)
    const of = this.#needs.needs.filter(
      ({ source, id }) => names.includes(source) || names.includes(id ?? ''),
    )
    await this.#data.refresh(of.map(({ source }) => source))
    await this.#settle()
  }

  #need(source: string, params: Need['params']): Need | undefined {
    return this.#needs.needs.find((each) => each.source === source && each.params === params)
  }

  #loadedFor(need: Need | undefined): Loaded {
    const request = need && this.#asked.get(need)
    if (!request) return nothingLoaded
    return 'error' in request ? toFailedData(request.error) : this.#data.get(request.wanted)
  }

  #keep(): void {
    this.options.keep?.(this.inputs.draft())
  }

  #byHand(): void {
    this.#keep()
    this.#rounds = 0
    this.#changed()
  }

  #afterPause(): void {
    this.#rounds = 0
    this.#publish()
    clearTimeout(this.#pause)
    this.#pause = setTimeout(() => void this.#settle(), pauseMs)
  }

  #changed(): void {
    this.#publish()
    void this.#settle()
  }

  #publish(): void {
    this.#scope = this.#makeScope()
    for (const listener of this.#listeners) listener()
  }

  /** Recomputes the derived state: untouched inputs, and the data to load. */
  async #settle(): Promise<void> {
    const revision = ++this.#revision
    // Initial values may depend on other inputs, so nothing is loaded before they are stable.
    for (let round = 0; round < maxRounds; round++) {
      const initialStates = await this.#beginning()
      if (revision !== this.#revision) return
      if (JSON.stringify(initialStates) === JSON.stringify(this.inputs.beginning)) break
      this.inputs.follow(initialStates)
      this.#publish()
    }
    const requests = await this.#askedNow()
    if (revision !== this.#revision || areSameRequests(requests, this.#asked)) return
    if (++this.#rounds > maxRounds) return
    this.#asked = requests
    this.#publish()
    this.#data.want(
      [...requests.values()].flatMap((each): DataRequest[] => ('wanted' in each ? [each.wanted] : [])),
    )
    // Needs without a request are empty immediately; another round resolves the needs that wait for them.
    return this.#settle()
  }

  async #beginning(): Promise<InitialStates> {
    const { inputs, forms } = this.#needs
    const outcomes = async (templates: readonly (readonly [string, unknown])[]) =>
      Object.fromEntries(
        await Promise.all(
          templates.map(async ([id, template]) => [id, await this.#outcome(template)] as const),
        ),
      )
    return {
      inputs: await outcomes(inputs.map(({ id, value }) => [id, value])),
      versions: await outcomes(forms.map(({ id, action }) => [id, action.version])),
    }
  }

  async #outcome(template: unknown): Promise<Outcome> {
    try {
      return { value: await evaluateAsync(template, this.#scope) }
    } catch (error) {
      return { error: toMessage(error) }
    }
  }

  async #askedNow(): Promise<Map<Need, ResolvedRequest>> {
    const [scope, choices] = [
      this.#scope,
      {
        typed: (input: ChoiceInput) => this.inputs.typed(input),
        searched: (input: ChoiceInput) => this.searched(input),
      },
    ]
    const found = await Promise.all(
      this.#needs.needs.map(async (need) => [need, await resolveRequest(need, scope, choices)] as const),
    )
    const requests = new Map(found.flatMap(([need, each]) => (each === undefined ? [] : [[need, each]])))
    const isPending = (need: Need) => {
      const now = requests.get(need)
      return (
        now !== undefined && (!isSameRequest(now, this.#asked.get(need)) || isFirst(this.#loadedFor(need)))
      )
    }
    for (const need of [...requests.keys()]) {
      if (![...(this.#dependencies.get(need) ?? [])].some(isPending)) continue
      // Keeps the previous request until the new one can be determined.
      const before = this.#asked.get(need)
      if (before) requests.set(need, before)
      else requests.delete(need)
    }
    return requests
  }

  #makeScope(): ExpressionScope {
    const data = [...this.#asked.keys()].map((need) => ({ ...need, loaded: this.#loadedFor(need) }))
    return buildPageScope({ ...this.options, inputs: this.#needs.inputs, states: this.inputs, data })
  }
}
