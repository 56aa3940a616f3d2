import type { components, paths } from '@opsplane/client'

export type Schemas = components['schemas']

/** States of the API for everything that a page reads of the workspace. */
export const stubStates = [
  ...(['loading', 'empty', 'one', 'some', 'many', 'long'] as const),
  ...(['error', 'forbidden', 'stale'] as const),
]
export type StubState = (typeof stubStates)[number]

/** The body of a successful GET, as typed by the OpenAPI document. */
type Body<Path extends keyof paths> = paths[Path] extends {
  get: { responses: { 200: { content: { 'application/json': infer Found } } } }
}
  ? Found
  : never

export interface StubRequest {
  /** Values of the path's variables, in order. */
  parts: readonly string[]
  query: URLSearchParams
}

/** A response for each API path that the console reads. */
export type StubAnswers = { [Path in keyof paths]?: (request: StubRequest) => Body<Path> }

export const meta = { requestId: 'req-7f3c21d09a' }

/** Rows of a list in a state: their number, and how each is built. */
export interface StubRows {
  count: number
  isLong: boolean
}

export const rowsIn = (state: StubState, manyRows = 10_000): StubRows => ({
  count: { empty: 0, one: 1, many: manyRows, long: 12, stale: 12 }[state as string] ?? 12,
  isLong: state === 'long',
})

const pageSize = 50

/** A page of rows; the cursor is the index of the page's first row. */
export function toPage<Row>(query: URLSearchParams, count: number, make: (index: number) => Row) {
  const start = Number(query.get('after') ?? 0)
  const limit = Number(query.get('limit') ?? pageSize)
  const end = Math.min(start + limit, count)
  const data = Array.from({ length: Math.max(end - start, 0) }, (_, offset) => make(start + offset))
  const hasMore = end < count
  return { data, meta, pagination: { hasMore, limit, nextCursor: hasMore ? String(end) : null } }
}

/** One of the values, always the same for the same index. */
export const pickAt = <Value>(values: readonly Value[], index: number): Value =>
  values[index % values.length] as Value

const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

/** Builds an id in the platform's format from a number; ids of different kinds differ. */
export function buildId(kind: string, index: number): string {
  const seed = [...kind].reduce((sum, letter) => sum * 31 + letter.charCodeAt(0), 0) % 97
  let rest = (index + 1 + seed * 20_011) * 2_654_435_761
  const end = Array.from({ length: 10 }, () => {
    const digit = alphabet[rest % 32]
    rest = Math.floor(rest / 32) + 7 * index
    return digit
  }).join('')
  return `${kind}_01KAY3M8Q4R7T2WX${end}`.slice(0, kind.length + 27)
}

const maxRows = 10_000
const indices = new Map<string, ReadonlyMap<string, number>>()

/** The number an id was built from, so that a detail matches the row that links to it. */
export function findIndex(kind: string, id: string): number {
  const known = indices.get(kind)
  const found = known ?? new Map(Array.from({ length: maxRows }, (_, index) => [buildId(kind, index), index]))
  if (known === undefined) indices.set(kind, found)
  return found.get(id) ?? 0
}

const startedMs = Date.now()

/** An instant before the start of the stub: the same in every response. */
export const secondsAgo = (seconds: number): string => new Date(startedMs - seconds * 1_000).toISOString()

/** Age in seconds of the event at this index, which the delivery at the same index sends. */
export const eventAgeSeconds = (index: number): number => 40 + index * 260

/** Text longer than its column, containing right-to-left script, and markup to detect unescaped output. */
export const longText =
  '<img src=x onerror="window.isOpen=true"><b>مراقبة الطابعات في الطابق الثالث والمستودع المركزي — Printer fleet, third floor and central warehouse, Rechnungsverarbeitungsschnittstellenbeauftragter'
export const unbroken = `https://hooks.example.com/${'very-long-segment-'.repeat(9)}end`
