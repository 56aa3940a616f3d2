import type { AppDataAnswer, AppDataRequest } from '@opsplane/contracts'

export type Row = Readonly<Record<string, unknown>>

/** The data of a source for certain parameters, as components and expressions see it. */
export interface Loaded {
  rows: readonly Row[]
  value: unknown
  error: { code: string; message: string } | null
  nextCursor: string | null
  isLoading: boolean
}

export interface DataRequest {
  source: string
  params: Readonly<Record<string, unknown>>
}

type Request = AppDataRequest['requests'][number]
type Result = AppDataAnswer['results'][string]
type Load = (requests: Request[]) => Promise<AppDataAnswer['results']>

export const nothingLoaded: Loaded = { rows: [], value: null, error: null, nextCursor: null, isLoading: true }

/** Whether the data is being loaded for the first time. */
export const isFirst = ({ isLoading, rows, value, error }: Loaded): boolean =>
  isLoading && rows.length === 0 && value === null && error === null

/** Data that was not requested because an expression in its parameters failed. */
export const toFailedData = (message: string): Loaded => ({
  ...{ ...nothingLoaded, isLoading: false },
  error: { code: expressionFailed, message },
})
export const expressionFailed = 'expression_failed'
const maxAtOnce = 50

/** Keyed by content: components with equal requests share the data, and a response is never used for another request. */
export const toCacheKey = ({ source, params }: DataRequest): string => JSON.stringify([source, params])

/** Cache of the data of a page. All data missing at the same time is loaded with one request. */
export class DataCache {
  readonly #entries = new Map<string, { wanted: DataRequest; loaded: Loaded; generation: number }>()
  #generation = 0

  constructor(
    private readonly load: Load,
    private readonly onChange: () => void,
  ) {}

  get(request: DataRequest): Loaded {
    return this.#entries.get(toCacheKey(request))?.loaded ?? nothingLoaded
  }

  /** Loads missing entries and evicts those that are no longer needed. */
  want(all: readonly DataRequest[]): void {
    const keys = new Set(all.map(toCacheKey))
    for (const key of this.#entries.keys()) if (!keys.has(key)) this.#entries.delete(key)
    const absent = new Map(all.map((request) => [toCacheKey(request), request]))
    for (const key of this.#entries.keys()) absent.delete(key)
    void this.#fetch([...absent.values()])
  }

  /** Reloads the data of these sources; the cached data stays until the response arrives. */
  refresh(sources: readonly string[]): Promise<void> {
    const entries = [...this.#entries.values()].filter(({ wanted }) => sources.includes(wanted.source))
    return this.#fetch(entries.map(({ wanted }) => wanted))
  }

  /** Loads the next page of a list and appends it. */
  async more(request: DataRequest): Promise<void> {
    const entry = this.#entries.get(toCacheKey(request))
    const cursor = entry?.loaded.nextCursor
    if (!entry || !cursor || entry.loaded.isLoading) return
    const { generation, loaded } = entry
    entry.loaded = { ...loaded, isLoading: true }
    this.onChange()
    const result = (await this.#answers([{ ...asRequest(request), cursor }])).get(toCacheKey(request))
    if (entry.generation !== generation) return
    const next = loadedOf(result)
    entry.loaded = next.error
      ? { ...loaded, error: next.error }
      : { ...next, rows: [...loaded.rows, ...next.rows] }
    this.onChange()
  }

  async #fetch(all: readonly DataRequest[]): Promise<void> {
    if (all.length === 0) return
    const generation = ++this.#generation
    for (const request of all) {
      const before = this.#entries.get(toCacheKey(request))?.loaded ?? nothingLoaded
      this.#entries.set(toCacheKey(request), {
        wanted: request,
        generation,
        loaded: { ...before, isLoading: true },
      })
    }
    this.onChange()
    const results = await this.#answers(all.map(asRequest))
    for (const request of all) {
      const entry = this.#entries.get(toCacheKey(request))
      if (entry?.generation === generation) entry.loaded = loadedOf(results.get(toCacheKey(request)))
    }
    this.onChange()
  }

  /** Results by the keys of the requests. If a request fails as a whole, each of its parts gets the error. */
  async #answers(requests: readonly Request[]): Promise<Map<string, Result>> {
    const answers = new Map<string, Result>()
    for (let start = 0; start < requests.length; start += maxAtOnce) {
      const some = requests
        .slice(start, start + maxAtOnce)
        .map((request, index) => ({ ...request, key: `${index}` }))
      const results = await this.load(some).catch((error: unknown) => failedAll(some, error))
      for (const { key, source, params } of some) {
        const result = results[key]
        if (result) answers.set(toCacheKey({ source, params }), result)
      }
    }
    return answers
  }
}

const asRequest = ({ source, params }: DataRequest): Request => ({
  key: '',
  source,
  params: params as Request['params'],
})

function failedAll(requests: readonly Request[], thrown: unknown): Record<string, Result> {
  const message = thrown instanceof Error ? thrown.message : String(thrown)
  const code = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : 'failed'
  return Object.fromEntries(requests.map(({ key }) => [key, { error: { code, message } }]))
}

function loadedOf(result: Result | undefined): Loaded {
  const none = { rows: [], value: null, nextCursor: null, isLoading: false }
  if (!result) return { ...none, error: { code: 'failed', message: 'There was no answer for this part.' } }
  if ('error' in result) return { ...none, error: result.error }
  return {
    rows: result.rows ?? [],
    value: result.value ?? null,
    error: null,
    nextCursor: result.nextCursor,
    isLoading: false,
  }
}
