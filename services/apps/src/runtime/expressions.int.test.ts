import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals'
import type { AppsFixture, RunningApp, SourceBody } from '../fixture/apps-fixture.js'
import {
  findSentFilter,
  listCalledOperations,
  resetPlatform,
  startDeclared,
} from '../fixture/declared-app.js'

/** Possible outcomes of an expression of a data source. */
const expressions = {
  throws: '{{ $number("no number") }}',
  undefined: '{{ params.absent }}',
  value: '{{ "Berlin" }}',
} as const
type Kind = keyof typeof expressions
const kinds = Object.keys(expressions) as Kind[]

interface Place {
  source(template: string): { binding: object; result?: string }
  use(app: RunningApp, source: string): Promise<unknown>
  /**
   * The request sent to the platform, or the response to the browser. If the expression throws, no request is sent and
   * the error is reported.
   */
  seen(): unknown
  comes: { undefined: unknown; value: unknown }
  isAskedBefore?: boolean
}

let fixture: AppsFixture
let me: RunningApp
let shown: unknown

const table = (more: object) => ({ binding: { kind: 'table', table: 'assets', ...more } })
const read = async (app: RunningApp, source: string) => {
  shown = await app.data(source)
  return shown
}
const act = async (app: RunningApp, source: string, body: object = {}) => {
  const { text } = await app.act({ source, ...body })
  return JSON.parse(text)
}
const sent = () => fixture.platform.calls.at(-1)?.body
const query = (input: object) => ({ binding: { kind: 'query', query: 'Sums', input } })

/** Every place of a data source where an expression may occur. */
const places: Record<string, Place> = {
  filter: {
    ...{ source: (site) => table({ filter: { site } }), use: read, seen: () => findSentFilter(fixture) },
    comes: { undefined: { site: null }, value: { site: 'Berlin' } },
  },
  operand: {
    ...{
      source: (site) => table({ filter: { site: { ne: site } } }),
      use: read,
      seen: () => findSentFilter(fixture),
    },
    comes: { undefined: { site: { ne: null } }, value: { site: { ne: 'Berlin' } } },
  },
  search: {
    ...{ source: (site) => table({ search: { site } }), use: read, seen: () => findSentFilter(fixture) },
    comes: { undefined: {}, value: { site: 'Berlin' } },
  },
  found: {
    source: (site) => table({ search: { site: { contains: site }, serial: { starts_with: site } } }),
    ...{ use: read, seen: () => findSentFilter(fixture) },
    comes: { undefined: {}, value: { site: { matches: 'Berlin' }, serial: { matches_start: 'Berlin' } } },
  },
  values: {
    source: (owner) => table({ operations: ['create'], values: { owner } }),
    ...{ use: (app, source) => act(app, source, { operation: 'create' }), seen: sent },
    comes: { undefined: { owner: null }, value: { owner: 'Berlin' } },
  },
  input: {
    ...{ source: (town) => query({ town }), use: read, seen: sent },
    comes: {
      undefined: { version: 7, parameters: { town: null } },
      value: { version: 7, parameters: { town: 'Berlin' } },
    },
  },
  action: {
    source: (text) => ({
      binding: { kind: 'connector', connector: 'chat', action: 'post', input: { text } },
    }),
    ...{ use: act, seen: sent },
    comes: {
      undefined: { action: 'post', input: { text: null } },
      value: { action: 'post', input: { text: 'Berlin' } },
    },
  },
  result: {
    source: (result) => ({ ...query({ town: 'Ulm' }), result }),
    ...{ use: read, seen: () => shown },
    comes: {
      undefined: { rows: null, value: null, nextCursor: null },
      value: { rows: null, value: 'Berlin', nextCursor: null },
    },
    isAskedBefore: true,
  },
}
const cases = Object.entries(places).flatMap(([name, place]) => kinds.map((kind) => ({ name, place, kind })))

beforeAll(async () => {
  fixture = await startDeclared()
  const sources = cases.map(({ name, place, kind }) => ({
    ...{ name: `${name}${kind}`, params: { absent: { type: 'text' } } },
    ...place.source(expressions[kind]),
  }))
  const app = await fixture.build(sources as SourceBody[])
  await fixture.deploy(app.id)
  me = fixture.person(app.slug)
})
afterAll(() => fixture?.stop())
beforeEach(() => resetPlatform(fixture))

it.each(cases)('evaluates an expression in $name of a data source: $kind', async ({ name, place, kind }) => {
  const answer = await place.use(me, `${name}${kind}`)
  if (kind === 'throws') {
    expect(answer).toMatchObject({ error: { code: 'validation_failed' } })
    if (!place.isAskedBefore) expect(listCalledOperations(fixture)).toEqual([])
  } else expect(place.seen()).toEqual(place.comes[kind])
})
