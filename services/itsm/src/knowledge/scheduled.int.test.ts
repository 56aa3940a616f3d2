import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { Article, ArticleVersion, KnowledgeResults } from '@opsplane/contracts'
import { lockStatement } from '@opsplane/postgres'
import { startTestService, type TestService, waitFor } from '@opsplane/testing'
import { dueArticles } from '../schema/knowledge.js'
import { itsm } from '../service.js'
import { knowledgeTeam } from './knowledge.fixture.js'

/** Time stands still until the test changes it, so that scheduled articles wait however long the test takes. */
let nowMs = Date.parse('2026-03-02T09:00:00.000Z')
const ahead = (ms: number) => new Date(nowMs + ms).toISOString()

let service: TestService
beforeAll(async () => {
  const clock = { now: () => ahead(0) }
  service = await startTestService(itsm, { overrides: { clock } })
})
afterAll(() => service?.stop())

/** An article in review; with `next`, the next version of a published one. */
async function inReview(next = false) {
  const team = knowledgeTeam(service)
  const { id } = next
    ? await team.publish({ title: 'VPN', body: 'Restart the client.' })
    : (await team.author.post('/knowledge', { title: 'VPN', body: 'Restart the client.' })).data(Article)
  const path = `/knowledge/${id}`
  if (next) await team.author.patch(path, { body: 'Reinstall the tunnel.' })
  await team.author.post(`${path}/submit`)
  const schedule = (publishAt: string, api = team.reviewer) => api.post(`${path}/schedule`, { publishAt })
  const seen = async () => (await team.reader.get(path)).data(Article)
  return { ...team, id, path, schedule, seen }
}

it('publishes a scheduled version automatically, and keeps the earlier one for readers until then', async () => {
  const { author, reader, path, schedule, seen } = await inReview(true)
  const publishAt = ahead(60_000)
  expect((await schedule(publishAt)).data(Article)).toMatchObject({
    ...{ status: 'scheduled', publishAt, publishedVersion: 1, publishedAt: null },
    allowedActions: ['publish', 'reject', 'retire'],
  })
  const sooner = await inReview()
  await sooner.schedule(ahead(59_999))
  nowMs += 59_999
  await waitFor(async () => (await sooner.seen()).articleVersion === 1)
  const versions = (await author.get(`${path}/versions`)).page(ArticleVersion).items
  expect(versions.map(({ status }) => status)).toEqual(['scheduled', 'published'])
  expect(await seen()).toMatchObject({ articleVersion: 1, body: 'Restart the client.' })
  nowMs += 2
  await waitFor(async () => (await seen()).articleVersion === 2)
  const shown = await seen()
  expect(shown).toMatchObject({ status: 'published', body: 'Reinstall the tunnel.', publishAt: null })
  expect(shown.publishedAt).toBe(ahead(0))
  expect(shown.publishedBy?.name).toBe('Grace')
  const found = (await reader.post('/knowledge/search', { query: 'tunnel' })).data(KnowledgeResults)
  expect(found.results).toHaveLength(1)
  expect((await author.get(`${path}?asOf=${publishAt}`)).data(Article).status).toBe('scheduled')
})

it('finds the due versions of all tenants in one query, through an index', async () => {
  const due = await Promise.all([inReview(), inReview(true)])
  const publishAt = ahead(60_000)
  for (const { schedule } of due) expect((await schedule(publishAt)).status).toBe(200)
  nowMs += 60_000
  for (const [place, { seen }] of due.entries())
    await waitFor(async () => (await seen()).articleVersion === place + 1)

  await service.sql.begin(async (tx) => {
    // With so few articles a sequential scan would be as cheap.
    await tx`set local enable_seqscan = off`
    const { text: claim, parameters } = lockStatement(dueArticles, [], { at: publishAt, limit: 20 })
    const [plan] = await tx.unsafe(`explain (format json) ${claim}`, parameters)
    const text = JSON.stringify(plan)
    expect(text).toContain('knowledge_articles_due_idx')
    expect(text).not.toContain('"Sort"')
  })
})

it('retries a version that cannot be published later, and publishes the others', async () => {
  const due = await Promise.all([inReview(), inReview(), inReview()])
  const publishAt = ahead(60_000)
  for (const { schedule } of due) await schedule(publishAt)
  const [poison, ...others] = due
  await service.sql`update knowledge_articles set state = (state::jsonb || '{"title": null}')::json
    where id = ${poison?.id ?? ''}`
  nowMs += 60_000
  for (const { seen } of others) await waitFor(async () => (await seen()).articleVersion === 1)
  await waitFor(async () => {
    const [row] = await service.sql`select failures from knowledge_articles where id = ${poison?.id ?? ''}`
    return row?.failures >= 1
  })
})

it('allows a scheduled version to be published earlier or withdrawn', async () => {
  const early = await inReview()
  await early.schedule(ahead(3_600_000))
  expect((await early.author.get('/knowledge?status=scheduled')).page(Article).items).toHaveLength(1)
  expect((await early.reader.get(early.path)).status).toBe(404)
  expect((await early.author.post(`${early.path}/publish`)).data(Article).status).toBe('published')
  expect((await early.seen()).articleVersion).toBe(1)

  const withdrawn = await inReview()
  await withdrawn.schedule(ahead(3_600_000))
  const edit = await withdrawn.author.patch(withdrawn.path, { title: 'VPN client' })
  expect(edit.error().code).toBe('invalid_state_transition')
  const rejected = await withdrawn.reviewer.post(`${withdrawn.path}/reject`, {
    reason: 'Wait for the release.',
  })
  expect(rejected.data(Article)).toMatchObject({ status: 'draft', publishAt: null })
})

it('rejects scheduling by the author, by readers, and for a past instant', async () => {
  const { author, reader, schedule, reviewer, path } = await inReview()
  expect((await schedule(ahead(60_000), author)).error().code).toBe('forbidden')
  expect((await schedule(ahead(60_000), reader)).error().code).toBe('insufficient_scope')
  expect((await schedule(ahead(-60_000))).error().details[0]).toMatchObject({
    ...{ path: '/publishAt', code: 'past' },
  })
  // Fields that an action does not accept are rejected rather than
  // ignored: a request to publish later must not publish now.
  const meant = await reviewer.post(`${path}/approve`, { publishAt: ahead(60_000) })
  expect(meant.error().details[0]).toMatchObject({ path: '/publishAt', code: 'unrecognized_key' })
})
