import { describe, expect, it } from '@jest/globals'
import { ApiError } from '@opsplane/contracts'
import { createThrottle } from './throttle.js'

const at = (second: number) => new Date(Date.UTC(2026, 2, 1, 10, 0, second)).toISOString()
const throttle = (capacity = 100) =>
  createThrottle({ freeFailures: 2, baseMs: 1_000, maxMs: 4_000, forgetMs: 60_000, capacity })

function refusal(run: () => void): { code: string; retryAfter: string | undefined } | null {
  try {
    run()
    return null
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return { code: error.code, retryAfter: error.headers['Retry-After'] }
  }
}

describe('the throttle', () => {
  it('doubles the wait after each failure beyond the free ones, up to the most', () => {
    const guard = throttle()
    guard.begin('ada', at(0))
    guard.begin('ada', at(0))
    guard.begin('ada', at(0))
    expect(refusal(() => guard.begin('ada', at(0)))).toEqual({ code: 'rate_limited', retryAfter: '1' })
    guard.begin('ada', at(1))
    expect(refusal(() => guard.begin('ada', at(2)))).toEqual({ code: 'rate_limited', retryAfter: '1' })
    guard.begin('ada', at(3))
    guard.begin('ada', at(7))
    expect(refusal(() => guard.begin('ada', at(7)))).toEqual({ code: 'rate_limited', retryAfter: '4' })
  })

  it('counts each key for itself', () => {
    const guard = throttle()
    for (let attempt = 0; attempt < 3; attempt++) guard.begin('ada', at(0))
    expect(refusal(() => guard.begin('ada', at(0)))).not.toBeNull()
    expect(refusal(() => guard.begin('bob', at(0)))).toBeNull()
  })

  it('forgives all after a success, or only the one withdrawn', () => {
    const guard = throttle()
    for (let attempt = 0; attempt < 3; attempt++) guard.begin('ada', at(0))
    guard.withdraw('ada')
    guard.begin('ada', at(0))
    expect(refusal(() => guard.begin('ada', at(0)))).not.toBeNull()
    guard.forgive('ada')
    for (let attempt = 0; attempt < 3; attempt++) expect(refusal(() => guard.begin('ada', at(0)))).toBeNull()
  })

  it('forgets after a time without attempts, and whoever was unseen for longest', () => {
    const guard = throttle(2)
    for (let attempt = 0; attempt < 3; attempt++) guard.begin('ada', at(0))
    for (let attempt = 0; attempt < 3; attempt++) expect(refusal(() => guard.begin('ada', at(60)))).toBeNull()
    guard.begin('bob', at(60))
    guard.begin('eve', at(60))
    expect(refusal(() => guard.begin('ada', at(60)))).toBeNull()
  })
})
