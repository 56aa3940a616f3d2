import { expect, it } from '@jest/globals'
import {
  ApiError,
  type ArticleAction,
  ArticleEventState,
  articleActions,
  articleStatuses,
} from '@opsplane/contracts'
import { seededRandom } from '@opsplane/testing'
import { article } from './domain.js'
import { articles, author, commands, create, now, reviewer } from './sample-articles.fixture.js'
import type { ArticleCommand, ArticleState } from './state.js'
import { allowedActions } from './transitions.js'

function randomCommand(next: () => number): ArticleCommand {
  const action: ArticleAction = articleActions[Math.floor(next() * articleActions.length)] ?? 'edit'
  const by = next() < 0.5 ? author : reviewer
  if (action === 'edit') return { kind: 'edit', by, now, patch: { title: `Title ${Math.floor(next() * 3)}` } }
  return action === 'approve' || action === 'schedule' ? { ...commands[action], by } : commands[action]
}

/** Invariants of every article that anyone can see. */
function expectSound(before: ArticleState, state: ArticleState, command: ArticleCommand): void {
  const { publishedVersion, articleVersion, status } = state
  expect(ArticleEventState.safeParse(state).error).toBeUndefined()
  expect(publishedVersion ?? 1).toBeLessThanOrEqual(articleVersion)
  expect(articleVersion - before.articleVersion).toBeLessThanOrEqual(1)
  expect(state.retiredAt !== null).toBe(status === 'retired')
  if (status === 'published') expect(publishedVersion).toBe(articleVersion)
  expect(state.publishAt !== null).toBe(status === 'scheduled')
  if (command.kind === 'approve' || command.kind === 'schedule')
    expect(before.contributors).not.toContain(command.by.userId)
}

it('an article stays within the declared statuses under random commands', () => {
  const seen = new Set<string>()
  for (let seed = 1; seed <= 300; seed += 1) {
    const next = seededRandom(seed)
    let state: ArticleState | null = article.decide(create, null).at(-1)?.after ?? null
    for (let step = 0; step < 60 && state !== null; step += 1) {
      const before: ArticleState = state
      const command = randomCommand(next)
      const allowed = allowedActions(before)
      try {
        const decisions = article.decide(command, before)
        expect(allowed).toContain(command.kind)
        for (const { after } of decisions) {
          if (after) expectSound(before, after, command)
          seen.add(after?.status ?? 'deleted')
          state = after
        }
      } catch (error) {
        if (!(error instanceof ApiError)) throw error
        expect(error.code).toBe(
          allowed.some((action) => action === command.kind) ? 'forbidden' : 'invalid_state_transition',
        )
      }
    }
  }
  expect([...seen].sort()).toEqual([...articleStatuses, 'deleted'].sort())
})

it('an article always has an allowed action until it is retired', () => {
  const stuck = articleStatuses.filter((status) => allowedActions(articles[status]).length === 0)
  expect(stuck).toEqual(['retired'])
})
