import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import {
  Incident,
  type IncidentState,
  IncidentStatus,
  Priority,
  priorities,
  Severity,
  severities,
} from '@opsplane/contracts'
import {
  type ApiClient,
  addHeads,
  everyNth,
  searchTimes,
  seededRandom,
  startTestService,
  type TestService,
  testPrincipal,
} from '@opsplane/testing'
import { z } from 'zod'
import { itsm } from '../../service.js'
import { incidents as samples } from '../sample-incidents.fixture.js'

/** More rows than any search strategy reads in one attempt, so that each strategy is abandoned for the next one. */
const count = 8_000
const someone = 'usr_someone'
let service: TestService
let api: ApiClient
/** Newest first. */
let all: IncidentState[]
const principal = testPrincipal()

beforeAll(async () => {
  service = await startTestService(itsm)
  api = service.as(principal)
  const random = seededRandom(32)
  const oneOf = <Value>(values: readonly Value[]): Value => {
    const value = values[Math.floor(random() ** 2 * values.length)]
    if (value === undefined) throw new Error('There is nothing to choose from.')
    return value
  }
  const made = Array.from({ length: count }, (_, n): IncidentState => {
    const at = new Date(Date.parse('2026-01-01T00:00:00.000Z') + Math.floor(n / 3) * 60_000).toISOString()
    const some = [
      ...(n % 700 ? [] : ['rare']),
      ...(n % 30 ? [] : ['seldom']),
      ...(n < 5_500 ? ['bygone'] : []),
    ]
    const words = [n % 2 ? 'odd' : 'even', ...some]
    return {
      ...samples.open,
      id: `inc_${String(n).padStart(26, '0')}`,
      number: `INC-${n + 1}`,
      title: words.join(' '),
      description: n % 900 === 0 ? 'Naïve Straße, see db-eu-1.' : null,
      tags: n % 1000 === 0 ? ['night shift'] : [],
      status: oneOf(IncidentStatus.options),
      severity: oneOf(Severity.options),
      priority: oneOf(Priority.options.toReversed()),
      assignmentGroup: n % 5 === 0 ? 'web' : null,
      assigneeId: n % 37 === 0 ? someone : null,
      createdAt: at,
      updatedAt: new Date(Date.parse(at) + Math.floor(random() * 1e9)).toISOString(),
    }
  })
  await write(made)
  all = made.toReversed()
})
afterAll(() => service?.stop())

/** Writes rows and events as the event store would. */
async function write(states: IncidentState[]) {
  const { sql } = service
  const { workspaceId = '' } = principal
  for (let from = 0; from < states.length; from += 1_000) {
    const rows = JSON.stringify(states.slice(from, from + 1_000))
    await sql`
      insert into incidents (id, workspace_id, environment, version, state)
      select state->>'id', ${workspaceId}::text, 'production', 1, state from json_array_elements(${rows}::text::json) state`
    await sql`
      insert into events (id, stream_type, stream_id, version, type, workspace_id, environment, actor, resource, data,
        created_at)
      select new_event_id(), 'incidents', state->>'id', 1, 'incident.created', ${workspaceId}::text, 'production',
        '{}', '{}', json_build_object('before', null, 'after', state), (state->>'createdAt')::timestamptz
      from json_array_elements(${rows}::text::json) state`
  }
  await addHeads(sql, 'incidents')
  await sql`analyze incidents`
}

/** Only the compared field. The service has validated the others. */
const Listed = z.object({ id: z.string() })

interface Walk {
  ids: string[]
  pages: number[]
}

async function walk(query: Record<string, string>, limit = 200): Promise<Walk> {
  const ids: string[] = []
  const pages: number[] = []
  for (let after: string | undefined; ; ) {
    const parameters = new URLSearchParams({ ...query, limit: String(limit), ...(after && { after }) })
    const { items, pagination } = (await api.get(`/itsm/incidents?${parameters}`)).page(Listed)
    ids.push(...items.map(({ id }) => id))
    pages.push(items.length)
    if (pagination.nextCursor === null) return { ids, pages }
    after = pagination.nextCursor
  }
}

const idsOf = (states: IncidentState[]) => states.map(({ id }) => id)
const titled = (word: string) => (incident: IncidentState) => incident.title.includes(word)
const isOneOf =
  (...values: string[]) =>
  (incident: IncidentState) =>
    values.includes(incident.status) || values.includes(incident.severity)

let walks = 0
/** Alternates between newest first and oldest first; both in the long test tier. */
const directions = () => (searchTimes > 1 ? [false, true] : [walks++ % 2 === 1])

describe('searching words in a long list of incidents', () => {
  const searches: [string, (incident: IncidentState) => boolean][] = [
    ['even', titled('even')],
    ['rare', titled('rare')],
    ['seldom', titled('seldom')],
    ['bygone', titled('bygone')],
    ['bygone rare', (incident) => titled('bygone')(incident) && titled('rare')(incident)],
    ['even odd', () => false],
    ['byg', titled('bygone')],
    ['"by"', () => false],
    ['naive STRASSE', ({ description }) => description !== null],
    ['db-eu', ({ description }) => description !== null],
    ['"see db"', ({ description }) => description !== null],
    ['"db see"', () => false],
    ['night', ({ tags }) => tags.length > 0],
    ['INC-70', ({ number }) => number === 'INC-70'],
    ['rare -odd', (incident) => titled('rare')(incident) && titled('even')(incident)],
    ['"; drop table', () => false],
    ['\\ & !', () => false],
  ]
  it.each(everyNth(2, searches))('finds every match in order: %s', async (q, matches) => {
    const expected = idsOf(all.filter(matches))
    for (const upwards of directions()) {
      const { ids } = await walk(upwards ? { q, sort: 'createdAt' } : { q })
      expect(ids).toEqual(upwards ? expected.toReversed() : expected)
    }
  })

  it('can be combined with other filters and another sort order', async () => {
    const matches = (incident: IncidentState) =>
      titled('bygone')(incident) && isOneOf('on_hold', 'closed')(incident) && incident.assigneeId === someone
    const expected = all.filter(matches)
    const query = { q: 'bygone', status: 'on_hold,closed', assigneeId: someone }
    expect((await walk(query)).ids).toEqual(idsOf(expected))
    const byChange = expected.toSorted((a, b) => (a.updatedAt + a.id < b.updatedAt + b.id ? -1 : 1))
    expect((await walk({ ...query, sort: 'updatedAt' }, 7)).ids).toEqual(idsOf(byChange))
  })
})

describe('filters with several values on a long list of incidents', () => {
  it.each([
    ['status', 'closed,on_hold'],
    ['status', 'on_hold,on_hold,canceled,resolved'],
    ['severity', 'critical,low'],
  ])('return every row once, in order, on full pages: %s=%s', async (name, values) => {
    const expected = idsOf(all.filter(isOneOf(...values.split(','))))
    for (const upwards of directions()) {
      const { ids, pages } = await walk({ [name]: values, ...(upwards && { sort: 'number' }) })
      expect(ids).toEqual(upwards ? expected.toReversed() : expected)
      expect(pages.slice(0, -1).every((length) => length === 200)).toBe(true)
    }
  })

  it('can be combined with each other', async () => {
    const expected = all.filter(
      (incident) => isOneOf('closed', 'open')(incident) && isOneOf('critical', 'high')(incident),
    )
    expect((await walk({ status: 'closed,open', severity: 'critical,high' })).ids).toEqual(idsOf(expected))
  })
})

describe('sorting a long list of incidents by urgency', () => {
  const older = (a: IncidentState, b: IncidentState) => (a.createdAt + a.id < b.createdAt + b.id ? -1 : 1)
  const ranks = {
    priority: ({ priority }: IncidentState) => priorities.indexOf(priority),
    severity: ({ severity }: IncidentState) => severities.indexOf(severity),
  }

  let turn = 0
  /** One combination per call, alternating; all of them in the long test tier. */
  const orders = () => {
    const all = [
      ['priority', 'priority'],
      ['severity', '-severity'],
    ] as const
    return searchTimes > 1 ? all : [all[turn++ % 2 === 0 ? 0 : 1]]
  }

  const lists: [Record<string, string>, (incident: IncidentState) => boolean][] = [
    [{}, () => true],
    [{ status: 'open,in_progress,on_hold' }, isOneOf('open', 'in_progress', 'on_hold')],
    [{ status: 'canceled' }, isOneOf('canceled')],
    [{ assignmentGroup: 'web' }, ({ assignmentGroup }) => assignmentGroup === 'web'],
    [
      { assigneeId: someone, status: 'open,closed' },
      (one) => one.assigneeId === someone && isOneOf('open', 'closed')(one),
    ],
    [
      { assigneeId: 'none', severity: 'high,low' },
      (one) => one.assigneeId === null && isOneOf('high', 'low')(one),
    ],
    [{ priority: 'P1,P3' }, ({ priority }) => priority === 'P1' || priority === 'P3'],
    [{ q: 'even' }, titled('even')],
    [{ q: 'rare' }, titled('rare')],
    [{ q: 'bygone' }, titled('bygone')],
    [
      { q: 'seldom', status: 'open,resolved' },
      (one) => titled('seldom')(one) && isOneOf('open', 'resolved')(one),
    ],
    [
      { q: 'bygone', assignmentGroup: 'web' },
      (one) => titled('bygone')(one) && one.assignmentGroup === 'web',
    ],
  ]
  it.each(everyNth(2, lists))(
    'returns every row once, in order, on full pages: %j',
    async (query, matches) => {
      for (const [by, sort] of orders()) {
        const expected = all.filter(matches).toSorted((a, b) => ranks[by](a) - ranks[by](b) || older(a, b))
        const { ids, pages } = await walk({ ...query, sort })
        expect(ids).toEqual(idsOf(sort === by ? expected : expected.toReversed()))
        expect(pages.slice(0, -1).every((length) => length === 200)).toBe(true)
      }
    },
  )
})

describe('a long list of incidents as of a past instant', () => {
  const middle = () => all[2_000]?.createdAt ?? ''

  it('reads a bounded number of records per page, and continues on the next page', async () => {
    const asOf = middle()
    const matches = (incident: IncidentState) => incident.createdAt <= asOf && incident.assigneeId === someone
    const expected = idsOf(all.filter(matches))
    const { ids, pages } = await walk({ asOf, assigneeId: someone })
    expect(ids).toEqual(expected)
    expect(pages.length).toBe(2)
    expect((await walk({ asOf, assigneeId: someone, sort: 'createdAt' }, 3)).ids).toEqual(
      expected.toReversed(),
    )
  })

  it('finds the words that the incidents had then', async () => {
    const asOf = middle()
    const rare = all.filter((incident) => incident.createdAt <= asOf && titled('rare')(incident))
    const { ids, pages } = await walk({ asOf, q: 'rare' })
    expect(ids).toEqual(idsOf(rare))
    expect(pages.length).toBeGreaterThan(3)
  })
})

it('a long list of incidents excludes other workspaces and environments', async () => {
  const strangers = [testPrincipal(), { ...principal, environment: 'staging' as const }]
  for (const stranger of strangers) {
    for (const query of [
      'sort=priority',
      'sort=-severity&q=even',
      'assignmentGroup=web&sort=severity',
      'q=even',
      'q=bygone',
      'status=open,closed',
      `asOf=${all[0]?.createdAt}`,
    ]) {
      expect((await service.as(stranger).get(`/itsm/incidents?${query}`)).page(Incident).items).toEqual([])
    }
  }
})
