import type {
  AppDataAnswer,
  AppDataRequest,
  AppDefinition,
  Component,
  InputComponent,
} from '@opsplane/contracts'
import { evaluated } from '../expression/evaluate.js'
import type { ExpressionScope } from '../expression/scope.js'
import { DataCache, keyOf, type Loaded, nothingLoaded, type Wanted } from './data-cache.js'
import { inputValue, type Typed, typedOf } from './input-values.js'
import { type Need, needsOf, type PageNeeds } from './needs.js'

export interface PageStoreOptions {
  page: { slug: string; components: readonly Component[]; params: Readonly<Record<string, string>> }
  user: AppDefinition['user']
  load(requests: AppDataRequest['requests']): Promise<AppDataAnswer['results']>
}

/** So many times in a row data may lead to other data by itself. */
const maxRounds = 20
const pauseMs = 250

/** The state of a page: what is in its inputs, and what its sources have given for it. */
export class PageStore {
  readonly #needs: PageNeeds
  readonly #data: DataCache
  readonly #listeners = new Set<() => void>()
  /** What has been typed, by input; the others have what their `value` says. */
  readonly #typed = new Map<string, Typed>()
  #initial: Record<string, Typed> = {}
  /** By the component's or the source's name. */
  #wanted = new Map<Need, Wanted>()
  #scope: ExpressionScope
  #revision = 0
  #rounds = 0
  #pause: ReturnType<typeof setTimeout> | undefined

  constructor(private readonly options: PageStoreOptions) {
    this.#needs = needsOf(options.page.components)
    this.#data = new DataCache(options.load, () => this.#changed())
    this.#scope = this.#makeScope()
  }

  get scope(): ExpressionScope {
    return this.#scope
  }

  /** Listeners are called with every change, each with a new scope, until they are removed by what is given back. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Begins to load. */
  start(): Promise<void> {
    return this.#settle()
  }

  typed(input: InputComponent): Typed {
    return this.#typed.get(input.id) ?? this.#initial[input.id] ?? typedOf(input, null)
  }

  value(input: InputComponent): unknown {
    return inputValue(input, this.typed(input))
  }

  /** Nothing is loaded for what is typed before there is a pause. */
  type(input: InputComponent, typed: Typed): void {
    this.#typed.set(input.id, typed)
    this.#rounds = 0
    this.#publish()
    clearTimeout(this.#pause)
    this.#pause = setTimeout(() => void this.#settle(), pauseMs)
  }

  /** Sets inputs by their ids. */
  set(values: Readonly<Record<string, unknown>>): void {
    for (const input of this.#needs.inputs) {
      if (Object.hasOwn(values, input.id)) this.#typed.set(input.id, typedOf(input, values[input.id]))
    }
    this.#byHand()
  }

  /** Lets inputs have what their `value` says again. */
  reset(inputs: readonly InputComponent[]): void {
    for (const { id } of inputs) this.#typed.delete(id)
    this.#byHand()
  }

  /** What a component shows: by its place in the page, as two may want the same source with other parameters. */
  loaded(source: string, params: Need['params']): Loaded {
    const need = this.#needs.needs.find((each) => each.source === source && each.params === params)
    const wanted = need && this.#wanted.get(need)
    return wanted ? this.#data.get(wanted) : nothingLoaded
  }

  more(source: string, params: Need['params']): void {
    const need = this.#needs.needs.find((each) => each.source === source && each.params === params)
    const wanted = need && this.#wanted.get(need)
    if (wanted) void this.#data.more(wanted)
  }

  refresh(sources: readonly string[]): void {
    this.#rounds = 0
    this.#data.refresh(sources)
  }

  #byHand(): void {
    this.#rounds = 0
    this.#changed()
  }

  #changed(): void {
    this.#publish()
    void this.#settle()
  }

  #publish(): void {
    this.#scope = this.#makeScope()
    for (const listener of this.#listeners) listener()
  }

  /** Works out what follows from the state: inputs that nobody has touched, and what is to be loaded. */
  async #settle(): Promise<void> {
    const revision = ++this.#revision
    const initial = await this.#initialValues()
    if (revision !== this.#revision) return
    if (JSON.stringify(initial) !== JSON.stringify(this.#initial)) {
      this.#initial = initial
      this.#publish()
    }
    const wanted = await this.#wantedNow()
    if (revision !== this.#revision || sameWanted(wanted, this.#wanted)) return
    if (++this.#rounds > maxRounds) return
    this.#wanted = wanted
    this.#data.want([...wanted.values()])
  }

  async #initialValues(): Promise<Record<string, Typed>> {
    const entries = this.#needs.inputs.map(async (input): Promise<[string, Typed]> => {
      const value = await evaluated(input.value, this.#scope).catch(() => null)
      return [input.id, typedOf(input, value)]
    })
    return Object.fromEntries(await Promise.all(entries))
  }

  async #wantedNow(): Promise<Map<Need, Wanted>> {
    const scope = this.#scope
    const found = this.#needs.needs.map(async (need): Promise<[Need, Wanted] | undefined> => {
      const shown = await Promise.all(
        need.visible.map((template) => evaluated(template, scope).catch(() => false)),
      )
      if (!shown.every(isShown)) return undefined
      const params = await evaluated(need.params, scope).catch(() => ({}))
      return [need, { source: need.source, params: withoutEmpty(params) }]
    })
    return new Map((await Promise.all(found)).filter((each) => each !== undefined))
  }

  #makeScope(): ExpressionScope {
    const { page, user } = this.options
    const data: Record<string, Loaded> = {}
    for (const [{ source, id }, wanted] of this.#wanted) {
      const loaded = this.#data.get(wanted)
      if (id !== undefined) data[id] = loaded
      data[source] ??= loaded
    }
    const inputs = Object.fromEntries(this.#needs.inputs.map((input) => [input.id, this.value(input)]))
    return { inputs, data, user, page: { slug: page.slug, params: page.params } }
  }
}

/** What `visible` has given; a text may have come of an expression within one. */
export const isShown = (value: unknown): boolean => Boolean(value) && value !== 'false'

/** Parameters that are empty are not sent. */
export function withoutEmpty(params: unknown): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(params as Record<string, unknown>).filter(([, value]) => value !== null && value !== ''),
  )
}

function sameWanted(left: ReadonlyMap<Need, Wanted>, right: ReadonlyMap<Need, Wanted>): boolean {
  return (
    left.size === right.size &&
    [...left].every(([need, wanted]) => {
      const other = right.get(need)
      return other !== undefined && keyOf(other) === keyOf(wanted)
    })
  )
}
