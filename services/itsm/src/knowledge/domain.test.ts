import { describe, expect, it } from '@jest/globals'
import { type ArticleAction, articleActions, knowledgeEvents } from '@opsplane/contracts'
import { specify } from '@opsplane/testing'
import { article } from './domain.js'
import { articleRows, publishedPast, versionsPast } from './rows.js'
import {
  after,
  articles,
  author,
  commands,
  create,
  now,
  redraft,
  reviewer,
} from './sample-articles.fixture.js'
import type { ArticleState } from './state.js'
import { allowedActions } from './transitions.js'

const { given } = specify(article)
const { draft, in_review: inReview, scheduled, published, retired } = articles
const rereview = after(commands.submit, commands.approve, commands.edit, commands.submit)
const rescheduled = after(
  ...[commands.submit, commands.approve, commands.edit, commands.submit, commands.schedule],
)

/**
 * Resulting status of each action; a missing cell means the action is
 * rejected. Written out independently of the table that the code uses.
 */
const matrix: [string, ArticleState, Partial<Record<ArticleAction, string>>][] = [
  ['a draft', draft, { edit: 'draft', submit: 'in_review', delete: 'deleted' }],
  ['one in review', inReview, { approve: 'published', schedule: 'scheduled', reject: 'draft' }],
  ['a scheduled one', scheduled, { publish: 'published', reject: 'draft' }],
  ['a published one', published, { edit: 'draft', retire: 'retired' }],
  ['the next version', redraft, { edit: 'draft', submit: 'in_review', retire: 'retired' }],
  [
    'the next version in review',
    rereview,
    { approve: 'published', schedule: 'scheduled', reject: 'draft', retire: 'retired' },
  ],
  ['the next version, scheduled', rescheduled, { publish: 'published', reject: 'draft', retire: 'retired' }],
  ['a retired one', retired, {}],
]

describe('every action in every state of an article', () => {
  const cells = matrix.flatMap(([name, state, row]) =>
    articleActions.map((action) => ({ name, state, action, target: row[action] })),
  )

  it.each(cells)('$action of $name', ({ state, action, target }) => {
    const command = action === 'edit' ? { ...commands.edit, patch: { title: 'Other' } } : commands[action]
    const outcome = given(state).when(command)
    if (target === undefined) {
      outcome.fails('invalid_state_transition', {
        from: state.status,
        action,
        allowed: allowedActions(state),
      })
      return
    }
    const [first] = outcome.decisions()
    expect(first?.after === null ? 'deleted' : first?.after?.status).toBe(target)
    expect(Object.keys(knowledgeEvents)).toContain(first?.type)
  })
})

describe('scheduling a version', () => {
  const { publishAt } = commands.schedule

  it('approves it, and keeps the published version for readers', () => {
    given(rereview)
      .when(commands.schedule)
      .emits({
        type: 'article.scheduled',
        changes: { status: 'scheduled', publishAt, publishedBy: reviewer.actor, updatedAt: now },
        extras: { publishAt },
      })
    expect(rescheduled.publishedVersion).toBe(1)
  })

  it('leads to its publication in the name of the approver', () => {
    const [first, second] = given(rescheduled)
      .when({ ...commands.publish, now: publishAt })
      .decisions()
    expect(first).toMatchObject({
      type: 'article.published',
      after: { publishedVersion: 2, publishAt: null, publishedAt: publishAt, publishedBy: reviewer.actor },
    })
    expect(second?.type).toBe('article.outdated')
  })

  it('is undone by rejecting it', () => {
    const [rejected] = given(scheduled).when(commands.reject).decisions()
    expect(rejected?.after).toMatchObject({ status: 'draft', publishAt: null, publishedBy: null })
  })

  it('requires a future instant at which the article is valid, and a person other than its authors', () => {
    const at = (moment: string) => ({ ...commands.schedule, publishAt: moment })
    given(inReview).when(at(now)).fails('validation_failed')
    given({ ...inReview, validUntil: publishAt })
      .when(at(publishAt))
      .fails('validation_failed')
    given(inReview)
      .when({ ...commands.schedule, by: author })
      .fails('forbidden')
  })
})

describe('publishing a version', () => {
  it('makes it the version for readers', () => {
    given(inReview)
      .when(commands.approve)
      .emits({
        type: 'article.published',
        changes: {
          status: 'published',
          publishedVersion: 1,
          publishedAt: now,
          publishedBy: reviewer.actor,
          updatedAt: now,
        },
      })
  })

  it('marks the earlier version as outdated', () => {
    const types = given(rereview)
      .when(commands.approve)
      .decisions()
      .map(({ type, after, extras }) => [type, after?.publishedVersion, extras])
    expect(types).toEqual([
      ['article.published', 2, undefined],
      ['article.outdated', 2, { outdatedVersion: 1 }],
    ])
  })

  it('is rejected from a contributor to the version, also through an API key', () => {
    const key = { actor: { id: 'tok_1', name: 'CI', type: 'api_token' as const }, userId: author.userId }
    given(inReview)
      .when({ ...commands.approve, by: author })
      .fails('forbidden')
    given(inReview)
      .when({ ...commands.approve, by: key })
      .fails('forbidden')
    const edited = after({ ...commands.edit, by: reviewer }, commands.submit)
    given(edited).when(commands.approve).fails('forbidden')
  })

  it('is allowed for the author of an earlier version', () => {
    const next = after(commands.submit, commands.approve, { ...commands.edit, by: reviewer }, commands.submit)
    const decided = given(next)
      .when({ ...commands.approve, by: author })
      .decisions()
    expect(decided[0]?.after?.publishedVersion).toBe(2)
  })
})

describe('an edit', () => {
  it('emits nothing if nothing changes', () => {
    given(draft)
      .when({ ...commands.edit, patch: { title: draft.title, tags: ['vpn'] } })
      .emits()
    given(published)
      .when({ ...commands.edit, patch: {} })
      .emits()
  })

  it('emits the changed body', () => {
    const body = 'New text.'
    given(draft)
      .when({ ...commands.edit, patch: { body } })
      .emits({ type: 'article.updated', changes: { body, updatedAt: now } })
    expect(article.expose(draft)).toHaveProperty('body')
  })

  it('of a published article starts the next version and keeps the published one', () => {
    expect(redraft).toMatchObject({ status: 'draft', articleVersion: 2, publishedVersion: 1 })
    const rows = article.project?.({ type: 'article.updated', after: redraft })
    expect(rows?.map(({ table, id }) => [table, id])).toEqual([['knowledge_versions', `${create.id}.2`]])
  })
})

it('retiring an article hides its published version while the next one is being written', () => {
  given(redraft)
    .when(commands.retire)
    .emits({
      type: 'article.retired',
      changes: { status: 'retired', publishedVersion: null, retiredAt: now, updatedAt: now },
    })
})

it('declares which events set and end the rows of its tables', () => {
  const types = Object.keys(knowledgeEvents).filter((type) => type !== 'article.feedback_given')
  const rowsOf = (type: string) =>
    articleRows({ type, ...(type === 'article.deleted' ? { after: null } : { after: published }) })
  const that = (table: string, kept: boolean) =>
    types.filter((type) => rowsOf(type).some((row) => row.table === table && (row.state !== null) === kept))
  expect(that('knowledge_versions', true).sort()).toEqual([...versionsPast.sets].sort())
  expect(that('knowledge_published', true)).toEqual(publishedPast.sets)
  expect(that('knowledge_published', false)).toEqual(publishedPast.ends)
})

it('extracts the codes of a text without duplicates, for the exact search leg', () => {
  const rows = article.project?.({ type: 'article.published', after: published })
  expect(rows?.find(({ table }) => table === 'knowledge_published')?.state?.codes).toEqual([
    create.id.toLowerCase(),
    'kb-1',
    'inc-7',
    'vpn-809',
  ])
})
