import { beforeEach, describe, expect, it } from '@jest/globals'
import { createFairClaims, type FairClaims } from './fair-claims.js'

let now = 0
let reads = 0
/** Workspaces with due rows. */
let due: string[] = []
let turns: FairClaims
const most = 4
const bounds = (...full: string[]) => ({ full: new Set(full), ofOne: most })

beforeEach(() => {
  now = 10_000
  reads = 0
  due = ['ws_noisy']
  turns = createFairClaims(
    async () => {
      reads++
      return due
    },
    () => now,
  )
})

/** A claim that finds as many rows of each workspace as requested. */
async function claimOf(...full: string[]): Promise<string[]> {
  const given = await turns.next(most, bounds(...full))
  const keys = given?.keys ?? []
  turns.claimed(
    most,
    given,
    keys.flatMap((key) => Array.from({ length: given?.each ?? 0 }, () => key)),
  )
  return keys
}

describe('the order of workspaces', () => {
  it('is not read again whenever a slot of the only waiting workspace becomes free', async () => {
    for (let round = 0; round < 100; round++) {
      expect(await claimOf('ws_noisy')).toEqual([])
      expect(await claimOf('ws_other')).toEqual(['ws_noisy'])
    }
    expect(reads).toBe(1)
  })

  it('is not read again after each completion while some workspaces are full and nothing is due', async () => {
    due = []
    for (let round = 0; round < 100; round++) expect(await claimOf('ws_noisy')).toEqual([])
    expect(reads).toBe(1)
  })

  it('includes a new workspace within 250 ms while all others are full, and within 1 s otherwise', async () => {
    expect(await claimOf('ws_noisy')).toEqual([])
    due = ['ws_noisy', 'ws_quiet']
    now += 249
    expect(await claimOf('ws_noisy')).toEqual([])
    now += 1
    expect(await claimOf('ws_noisy')).toEqual(['ws_quiet'])
    due = ['ws_late', 'ws_noisy', 'ws_quiet']
    now += 999
    expect(await claimOf('ws_other')).not.toContain('ws_late')
    now += 1
    expect(await claimOf('ws_other')).toContain('ws_late')
  })

  it('serves skipped workspaces next, in the common order', async () => {
    due = ['ws_a', 'ws_b', 'ws_c']
    expect(await claimOf('ws_b')).toEqual(['ws_a', 'ws_c'])
    expect(await claimOf('ws_a')).toEqual(['ws_b', 'ws_c'])
    expect(reads).toBe(1)
  })
})
