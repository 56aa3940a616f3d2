import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import {
  Change,
  ConfigurationItem,
  Incident,
  IncidentChannel,
  levels,
  Problem,
  priorities,
  severities,
} from '@opsplane/contracts'
import { type ApiClient, type SharedService, searchTimes, testPrincipal } from '@opsplane/testing'
import { joinItsm } from '../../joined.fixture.js'

let service: SharedService
let api: ApiClient
let problemId: string
let changeId: string
let ciId: string
const principal = testPrincipal()
/** In order of creation. */
const all: Incident[] = []

beforeAll(async () => {
  service = await joinItsm()
  api = service.as(principal)
  problemId = (await api.post('/itsm/problems', { title: 'Carts leak' })).data(Problem).id
  changeId = (await api.post('/itsm/changes', { title: 'Fewer carts' })).data(Change).id
  const item = { class: 'database', name: 'checkout-db', status: 'operational' }
  ciId = (await api.post('/cmdb/items', item)).data(ConfigurationItem).id
  const channels = IncidentChannel.options
  for (let index = 0; index < 24; index++) {
    const fields = {
      title: index % 6 === 0 ? `100% of carts_are empty (${index})` : `Checkout is slow (${index})`,
      severity: severities[index % 4],
      ...(index % 3 === 0 ? { assignmentGroup: 'web' } : {}),
      ...(index % 5 === 0 ? { assigneeId: 'usr_ada' } : {}),
      impact: levels[index % 2],
      urgency: levels[index % 3],
      ...(index % 7 === 0 ? { problemId, watcherIds: ['usr_ada', 'usr_grace'] } : {}),
      ...(index % 8 === 0 ? { changeId, tags: ['checkout', `tag-${index}`] } : {}),
      ...(index % 6 === 1 ? { ciId, callerId: principal.userId, channel: 'phone' } : {}),
      ...(index % 6 === 2
        ? { callerId: 'usr_grace', category: 'network', channel: channels[index % 7] }
        : {}),
      ...(index % 4 === 1 ? { dedupKey: 'disk-full' } : {}),
    }
    const incident = (await api.post('/itsm/incidents', fields)).data(Incident)
    const resolution = { resolutionCode: index % 8 === 1 ? 'workaround' : 'fixed' }
    const resolved = index % 4 === 1
    all.push(
      resolved
        ? (await api.post(`/itsm/incidents/${incident.id}/resolve`, resolution)).data(Incident)
        : incident,
    )
  }
  // Written as the rows of an incident with a parent and of a proposed major incident.
  for (const incident of all.filter((_, index) => index % 10 === 3)) {
    const fields = { parentId: all[0]?.id ?? null, majorState: 'proposed' as const }
    Object.assign(incident, fields)
    await service.sql`
      update incidents set state = (state::jsonb || ${service.sql.json(fields)}::jsonb)::json where id = ${incident.id}`
  }
})
afterAll(() => service?.stop())

/** Reads a whole list page by page, following its cursors. */
async function walk(query: string, limit: number): Promise<Incident[]> {
  const items: Incident[] = []
  for (let after = ''; ; ) {
    const reply = await api.get(`/itsm/incidents?${query}&limit=${limit}${after}`)
    const page = reply.page(Incident)
    items.push(...page.items)
    expect(page.items.length).toBeLessThanOrEqual(limit)
    expect(page.pagination).toMatchObject({ limit, hasMore: page.pagination.nextCursor !== null })
    if (page.pagination.nextCursor === null) return items
    after = `&after=${encodeURIComponent(page.pagination.nextCursor)}`
  }
}

const middle = () => {
  const incident = all[12]
  if (!incident) throw new Error('There are not enough incidents.')
  return incident.createdAt
}

describe('filters of the list of incidents', () => {
  const cases: [string, () => string, (incident: Incident) => boolean][] = [
    ['none', () => '', () => true],
    ['a status', () => 'status=resolved', ({ status }) => status === 'resolved'],
    [
      'statuses, comma-separated',
      () => 'status=open,in_progress',
      ({ status }) => ['open', 'in_progress'].includes(status),
    ],
    [
      'severities, repeated',
      () => 'severity=critical&severity=low',
      ({ severity }) => ['critical', 'low'].includes(severity),
    ],
    ['an assignee', () => 'assigneeId=usr_ada', ({ assigneeId }) => assigneeId === 'usr_ada'],
    ['no assignee', () => 'assigneeId=none', ({ assigneeId }) => assigneeId === null],
    ['a team', () => 'assignmentGroup=web', ({ assignmentGroup }) => assignmentGroup === 'web'],
    [
      'a team, trimmed',
      () => 'assignmentGroup=%20web%20',
      ({ assignmentGroup }) => assignmentGroup === 'web',
    ],
    ['priorities', () => 'priority=P1,P4', ({ priority }) => priority === 'P1' || priority === 'P4'],
    ['an impact', () => 'impact=high', ({ impact }) => impact === 'high'],
    ['urgencies', () => 'urgency=high&urgency=low', ({ urgency }) => urgency !== 'medium'],
    [
      'a resolution',
      () => 'resolutionCode=workaround',
      ({ resolutionCode }) => resolutionCode === 'workaround',
    ],
    ['a configuration item', () => `ciId=${ciId}`, (incident) => incident.ciId === ciId],
    ['a caller', () => 'callerId=usr_grace', ({ callerId }) => callerId === 'usr_grace'],
    ['who asks as the caller', () => 'callerId=me', ({ callerId }) => callerId === principal.userId],
    ['a category', () => 'category=network', ({ category }) => category === 'network'],
    ['a channel', () => 'channel=phone', ({ channel }) => channel === 'phone'],
    [
      'channels and a status',
      () => 'channel=monitoring,chat,phone&status=open',
      ({ channel, status }) => ['monitoring', 'chat', 'phone'].includes(channel ?? '') && status === 'open',
    ],
    ['a watcher', () => 'watcherId=usr_grace', ({ watcherIds }) => watcherIds.includes('usr_grace')],
    ['a tag', () => 'tag=checkout', ({ tags }) => tags.includes('checkout')],
    ['a problem', () => `problemId=${problemId}`, (incident) => incident.problemId === problemId],
    ['a change', () => `changeId=${changeId}`, (incident) => incident.changeId === changeId],
    ['a parent', () => `parentId=${all[0]?.id}`, ({ parentId }) => parentId !== null],
    ['major ones', () => 'majorState=proposed', ({ majorState }) => majorState === 'proposed'],
    ['ordinary ones', () => 'majorState=none', ({ majorState }) => majorState === 'none'],
    ['a dedup key', () => 'dedupKey=disk-full', ({ dedupKey }) => dedupKey === 'disk-full'],
    [
      'a word of title or tags, in any case',
      () => 'q=CHECKOUT',
      ({ title, tags }) => title.includes('Checkout') || tags.includes('checkout'),
    ],
    [
      'words in any order, the last one begun',
      () => 'q=are+cart',
      ({ title }) => title.includes('carts_are'),
    ],
    [
      'words without a phrase',
      () => `q=${encodeURIComponent('slow -"slow 13"')}`,
      ({ title }) => title.includes('slow') && !title.includes('(13)'),
    ],
    [
      'a phrase, without its punctuation',
      () => `q=${encodeURIComponent('"100% of carts"')}`,
      ({ title }) => title.includes('100% of carts'),
    ],
    ['either of two words', () => 'q=carts+or+7', ({ title }) => /carts|\(7\)/.test(title)],
    ['a time after', () => `createdAfter=${middle()}`, ({ createdAt }) => createdAt > middle()],
    [
      'a time before, in another zone',
      () => `createdBefore=${encodeURIComponent(middle().replace('Z', '+00:00'))}`,
      ({ createdAt }) => createdAt < middle(),
    ],
    [
      'several at once',
      () => 'status=open&severity=critical,medium&assignmentGroup=web',
      ({ status, severity, assignmentGroup }) =>
        status === 'open' && ['critical', 'medium'].includes(severity) && assignmentGroup === 'web',
    ],
  ]

  it.each(cases)('paginate newest first without duplicates or gaps: %s', async (_, query, matches) => {
    const expected = all.filter(matches).map(({ id }) => id)
    expect(expected.length).toBeGreaterThan(1)
    for (const limit of searchTimes > 1 ? [1, 5, 200] : [4, 200]) {
      const items = await walk(query(), limit)
      expect(items.map(({ id }) => id)).toEqual(expected.toReversed())
    }
  })
})

it('resolves "me" in a filter to the caller', async () => {
  const caller = testPrincipal()
  const mine = service.as(caller)
  await mine.post('/itsm/incidents', { title: 'Unassigned' })
  const fields = { title: 'Mine', assigneeId: caller.userId, watcherIds: [caller.userId] }
  const { id } = (await mine.post('/itsm/incidents', fields)).data(Incident)
  for (const query of ['assigneeId=me', 'watcherId=me', 'assigneeId=me&watcherId=me'])
    expect((await mine.get(`/itsm/incidents?${query}`)).page(Incident).items.map((one) => one.id)).toEqual([
      id,
    ])
  expect((await mine.get('/itsm/incidents?callerId=me')).page(Incident).items).toEqual([])
})

it('matches category, item and caller only by the exact value', async () => {
  for (const query of ['category=netw', 'category=Network', `ciId=${ciId.slice(0, -1)}`, 'callerId=none'])
    expect(await walk(query, 5)).toEqual([])
})

it('matches tags and watchers only by the exact value', async () => {
  for (const query of ['tag=check', 'tag=CHECKOUT', 'watcherId=usr_gra', 'tag=%22%5D'])
    expect(await walk(query, 5)).toEqual([])
})

it('finds an incident by its exact number, and by mentions of that number', async () => {
  const caller = service.as(testPrincipal())
  const titles = [
    'Disk full',
    'Like INC-1',
    'Printer jam',
    ...Array.from({ length: 8 }, (_, at) => `Noise ${at}`),
  ]
  for (const title of titles) await caller.post('/itsm/incidents', { title })
  const numbers = (await caller.get('/itsm/incidents?q=inc-1'))
    .page(Incident)
    .items.map(({ number }) => number)
  expect(numbers).toEqual(['INC-2', 'INC-1'])
})

it('finds words in any script, ignoring case and punctuation', async () => {
  const caller = service.as(testPrincipal())
  const titles = [
    '«ПРИНТЕР» на этаже №3 сломан',
    'Ο Εκτυπωτής δεν λειτουργεί',
    'GRÖẞE des Überlaufs “DRUCKER”',
    'İSTANBUL ofisinde yazıcı',
    '打印机、不工作',
    'الطابعة، لا تعمل؟',
  ]
  for (const title of titles) await caller.post('/itsm/incidents', { title })
  const found = async (q: string) =>
    (await caller.get(`/itsm/incidents?q=${encodeURIComponent(q)}`))
      .page(Incident)
      .items.map(({ title }) => titles.indexOf(title))
  for (const [at, queries] of [
    ['принтер', 'Принтер', 'ПРИН', '"принтер НА"', 'сломан'],
    ['ΔΕΝ ΕΚΤΥΠΩΤΉ', 'εκτυπωτης'],
    ['größe', 'grösse', 'überlaufs', 'drucker'],
    ['istanbul', 'Istanbul', 'YAZICI'],
    ['打印', '不工作'],
    ['الطابعة', 'تعمل'],
  ].entries())
    for (const query of queries) expect([query, await found(query)]).toEqual([query, [at]])
  expect(await found('тон')).toEqual([])
})

describe('sorting the list of incidents', () => {
  it('by number is numeric, not alphabetical', async () => {
    const numbers = (await walk('sort=number', 7)).map(({ number }) => number)
    expect(numbers).toEqual(all.map(({ number }) => number))
    expect((await walk('sort=-number', 7)).map(({ number }) => number)).toEqual(numbers.toReversed())
  })

  it.each<[string, (incident: Incident) => boolean]>([
    ['', () => true],
    ['status=open,in_progress,on_hold&', ({ status }) => status === 'open' || status === 'in_progress'],
    ['assignmentGroup=web&', ({ assignmentGroup }) => assignmentGroup === 'web'],
    [
      'assigneeId=usr_ada&status=open,in_progress&',
      ({ assigneeId, status }) => assigneeId === 'usr_ada' && status !== 'resolved',
    ],
    ['q=checkout&', ({ title, tags }) => title.includes('Checkout') || tags.includes('checkout')],
    [
      'priority=P2,P4&severity=critical,low&',
      ({ priority, severity }) => ['P2', 'P4'].includes(priority) && ['critical', 'low'].includes(severity),
    ],
  ])('by priority or severity returns the oldest first within each rank: %s', async (query, matches) => {
    const rank = {
      priority: ({ priority }: Incident) => priorities.indexOf(priority),
      severity: ({ severity }: Incident) => severities.indexOf(severity),
    }
    for (const by of ['priority', 'severity'] as const) {
      const expected = all.filter(matches).toSorted((a, b) => rank[by](a) - rank[by](b))
      expect(expected.length).toBeGreaterThan(1)
      const ids = expected.map(({ id }) => id)
      for (const limit of searchTimes > 1 ? [1, 5, 200] : [4, 200]) {
        expect((await walk(`${query}sort=${by}`, limit)).map(({ id }) => id)).toEqual(ids)
        expect((await walk(`${query}sort=-${by}`, limit)).map(({ id }) => id)).toEqual(ids.toReversed())
      }
    }
  })

  it('by severity uses the current severity', async () => {
    const settings = service.as(testPrincipal())
    const opened: string[] = []
    for (const severity of ['low', 'medium', 'high'])
      opened.push((await settings.post('/itsm/incidents', { title: 'Slow', severity })).data(Incident).id)
    const listed = async () =>
      (await settings.get('/itsm/incidents?sort=severity')).page(Incident).items.map(({ id }) => id)
    expect(await listed()).toEqual(opened.toReversed())
    await settings.patch(`/itsm/incidents/${opened[0]}`, { severity: 'critical' })
    expect(await listed()).toEqual([opened[0], opened[2], opened[1]])
  })

  it('by updatedAt returns every incident in order of its last change', async () => {
    const times = (await walk('sort=updatedAt', 7)).map(({ updatedAt }) => updatedAt)
    expect(times).toEqual([...times].sort())
    expect(times).toHaveLength(all.length)
  })
})

describe('invalid queries for the list of incidents', () => {
  it.each([
    'status=new',
    'priority=P0',
    'impact=huge',
    'majorState=big',
    'tag=',
    'channel=fax',
    'category=',
    'sort=urgency',
    'colour=red',
    'limit=0',
    'limit=201',
    'sort=title',
    'createdAfter=yesterday',
  ])('are rejected with 422: %s', async (query) => {
    const reply = await api.get(`/itsm/incidents?${query}`)
    expect(reply.status).toBe(422)
    expect(reply.error().details[0]).toMatchObject({
      in: 'query',
      path: expect.stringMatching(/^\/[a-zA-Z]+/),
    })
  })

  it('include a cursor of another filter, sort order or workspace', async () => {
    const { nextCursor } = (await api.get('/itsm/incidents?limit=1')).page(Incident).pagination
    const after = `limit=1&after=${encodeURIComponent(nextCursor ?? '')}`
    const foreign = service.as(testPrincipal())
    const replies = await Promise.all([
      api.get(`/itsm/incidents?${after}&status=open`),
      api.get(`/itsm/incidents?${after}&sort=number`),
      api.get(`/itsm/incidents?${after}&sort=priority`),
      foreign.get(`/itsm/incidents?${after}`),
    ])
    expect(replies.map((reply) => reply.error().code)).toEqual(replies.map(() => 'invalid_cursor'))
  })
})

it('assigns 200 different, increasing numbers to 200 incidents created concurrently', async () => {
  const elsewhere = service.as(testPrincipal())
  const last = (await elsewhere.post('/itsm/incidents', { title: 'Before' })).data(Incident)
  const created = await Promise.all(
    Array.from({ length: 200 }, async () =>
      (await elsewhere.post('/itsm/incidents', { title: 'At once' })).data(Incident),
    ),
  )
  const numbers = created.map(({ number }) => Number(number.replace('INC-', '')))
  expect(new Set(numbers).size).toBe(200)
  expect(Math.min(...numbers)).toBeGreaterThan(Number(last.number.replace('INC-', '')))
  const next = (await elsewhere.post('/itsm/incidents', { title: 'After' })).data(Incident)
  expect(Number(next.number.replace('INC-', ''))).toBeGreaterThan(Math.max(...numbers))
})
