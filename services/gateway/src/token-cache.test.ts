import { describe, expect, test } from '@jest/globals'
import { ApiError, type Principal } from '@opsplane/contracts'
import { createTokenCache, type Verification, type VerifyRequest } from './token-cache.js'

const principal: Principal = {
  actor: { id: 'usr_1', name: 'Ada', type: 'user' },
  userId: 'usr_1',
  tokenId: 'tok_1',
  workspaceId: 'ws_1',
  workspaceSlug: 'acme',
  environment: 'production',
  permissions: ['itsm:read'],
}
const question: VerifyRequest = { token: 't', workspace: 'acme', environment: 'production' }
const revoked = () => new ApiError('invalid_token', 'revoked')

/** A cache with its own clock, and a settings service that responds on request. */
function given(options: { capacity?: number; expiresAt?: string } = {}) {
  const asked: { question: VerifyRequest; answer(error?: Error): Promise<void> }[] = []
  let now = 1_000
  const cache = createTokenCache({
    ttlMs: 500,
    monotonicMs: () => now,
    wallMs: () => Date.parse('2026-01-01T00:00:00.000Z') + now,
    ...(options.capacity === undefined ? {} : { capacity: options.capacity }),
    verify: (asking) =>
      new Promise<Verification>((resolve, reject) => {
        asked.push({
          question: asking,
          answer: async (error) => {
            if (error) reject(error)
            else resolve({ principal, expiresAt: options.expiresAt ?? null })
            await new Promise(setImmediate)
          },
        })
      }),
  })
  const answer = (index: number, error?: Error) => asked[index]?.answer(error)
  return {
    cache,
    asked,
    answer,
    pass: (ms: number) => {
      now += ms
    },
  }
}

describe('a token cache', () => {
  test('shares one verification between concurrent callers, and keeps its result', async () => {
    const { cache, asked, answer } = given()
    const both = Promise.all([cache.authenticate(question), cache.authenticate(question)])
    await answer(0)
    expect(await both).toEqual([principal, principal])
    expect(await cache.authenticate(question)).toBe(principal)
    expect(asked).toHaveLength(1)
  })

  test('verifies separately for another workspace, environment or token', () => {
    const { cache, asked } = given()
    for (const other of [
      question,
      { ...question, workspace: undefined },
      { ...question, environment: 'staging' },
      { ...question, token: 'u' },
    ]) {
      cache.authenticate(other).catch(() => undefined)
    }
    expect(asked).toHaveLength(4)
  })

  test('counts the time to live from when the verification started', async () => {
    const { cache, asked, answer, pass } = given()
    const first = cache.authenticate(question)
    pass(400)
    await answer(0)
    await first
    pass(99)
    expect(cache.peek(question)).toBe(principal)
    pass(1)
    expect(cache.peek(question)).toBeUndefined()
    const refused = expect(cache.authenticate(question)).rejects.toThrow('revoked')
    expect(asked).toHaveLength(2)
    await answer(1, revoked())
    await refused
  })

  test('does not share a verification that started longer ago than the time to live', () => {
    const { cache, asked, pass } = given()
    cache.authenticate(question).catch(() => undefined)
    pass(500)
    cache.authenticate(question).catch(() => undefined)
    expect(asked).toHaveLength(2)
  })

  test('renews the verification of a token in use before it expires, without delaying a request', async () => {
    const { cache, asked, answer, pass } = given()
    const first = cache.authenticate(question)
    await answer(0)
    await first
    pass(300)
    expect(await cache.authenticate(question)).toBe(principal)
    expect(await cache.authenticate(question)).toBe(principal)
    expect(asked).toHaveLength(2)
    await answer(1)
    pass(400)
    expect(cache.peek(question)).toBe(principal)
  })

  test('rejects from the moment a renewal was rejected', async () => {
    const { cache, answer, pass } = given()
    const first = cache.authenticate(question)
    await answer(0)
    await first
    pass(300)
    await cache.authenticate(question)
    await answer(1, revoked())
    await expect(cache.authenticate(question)).rejects.toThrow('revoked')
  })

  test('keeps a rejection for a shorter time', async () => {
    const { cache, asked, answer, pass } = given()
    const refused = expect(cache.authenticate(question)).rejects.toThrow('revoked')
    await answer(0, revoked())
    await refused
    await expect(cache.authenticate(question)).rejects.toThrow('revoked')
    pass(250)
    cache.authenticate(question).catch(() => undefined)
    expect(asked).toHaveLength(2)
  })

  test('does not keep the result that settings was down', async () => {
    const { cache, asked, answer } = given()
    const refused = expect(cache.authenticate(question)).rejects.toThrow('down')
    await answer(0, new ApiError('service_unavailable', 'down'))
    await refused
    cache.authenticate(question).catch(() => undefined)
    expect(asked).toHaveLength(2)
  })

  test('does not trust a token beyond its expiry', async () => {
    const { cache, answer, pass } = given({ expiresAt: '2026-01-01T00:00:01.100Z' })
    const first = cache.authenticate(question)
    await answer(0)
    await first
    pass(99)
    expect(cache.peek(question)).toBe(principal)
    pass(1)
    expect(cache.peek(question)).toBeUndefined()
  })

  test('removes the requested entries, even while a renewal is in progress', async () => {
    const { cache, answer, pass } = given()
    const first = cache.authenticate(question)
    await answer(0)
    await first
    pass(300)
    await cache.authenticate(question)
    cache.forget((known) => known.tokenId === 'tok_1')
    expect(cache.peek(question)).toBeUndefined()
    await answer(1)
    expect(cache.peek(question)).toBeUndefined()
  })

  test('drops the token verified longest ago when it is full', async () => {
    const { cache, answer } = given({ capacity: 2 })
    for (const [index, token] of ['a', 'b', 'c'].entries()) {
      const asking = cache.authenticate({ ...question, token })
      await answer(index)
      await asking
    }
    const known = ['a', 'b', 'c'].filter((token) => cache.peek({ ...question, token }))
    expect(known).toEqual(['b', 'c'])
  })
})
