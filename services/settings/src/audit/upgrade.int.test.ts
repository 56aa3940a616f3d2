import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { newId, type PlatformEvent } from '@opsplane/contracts'
import { generateServiceKeys } from '@opsplane/http'
import type { Database } from '@opsplane/postgres'
import { cursorCodec } from '@opsplane/runtime'
import { createEarlierDatabase, type EarlierDatabase } from '@opsplane/testing'
import { settings } from '../service.js'
import { appendToChains } from './append.js'
import { foreignEvent } from './audit.fixture.js'
import { createCheckpointSigner } from './checkpoint.js'
import { createVerify } from './verify.js'

let earlier: EarlierDatabase
let owner: Database
beforeAll(async () => {
  const { migrationsDir } = settings
  earlier = await createEarlierDatabase({ service: 'settings', migrationsDir, before: '0004_audit_chain' })
  owner = earlier.owner
})
afterAll(async () => {
  await earlier?.drop()
})

/** What JSON can hold that sorts or prints in a way of its own. */
const odd = {
  ...{ b: 1, a: 2, 10: 'ten', 9: 'nine', '01': 'no index', 4294967295: 'none either', Z: 'upper', é: 'é' },
  numbers: [0, -1.5, 1e21, 1e-7, 123456789012345],
  texts: ['"\\/\b\f\n\r\t\u0001\u001f\u007f', '\u2028', '😀', '<&>', ''],
  'a "key"\\\n': null,
  deep: [{ y: [], x: {} }, [true, false, null]],
}

test('events from before the chain are chained, and newer ones go on from them', async () => {
  const workspaces = [newId('workspace'), newId('workspace')]
  const before = workspaces.flatMap((workspaceId) =>
    [3, 1, 2].map((minute) => {
      const createdAt = `2026-01-01T00:0${minute}:00.000Z`
      const data = { before: null, after: { ...odd, minute }, changes: [] }
      const { source: _, ...event } = foreignEvent(workspaceId, { createdAt, data })
      return event
    }),
  )
  for (const event of before) {
    await owner.sql`insert into audit_log (id, workspace_id, environment, version, event)
      values (${event.id}, ${event.workspaceId}, ${event.environment}, 1, ${JSON.stringify(event)}::text::json)`
  }
  await earlier.upgrade()

  const { db } = owner
  const signer = createCheckpointSigner(generateServiceKeys().privateKey)
  const cursors = cursorCodec('a secret for the cursors of tests')
  const verify = createVerify({ db, signer, cursors, monotonicMs: () => 0, budgetMs: 1_000 })
  for (const workspaceId of workspaces) {
    expect(await verify(workspaceId, {})).toMatchObject({ valid: true, checked: 3, head: { seq: 3 } })
    const rows = await owner.sql<{ event: PlatformEvent }[]>`
      select event from audit_log where workspace_id = ${workspaceId} order by seq`
    expect(rows.map(({ event }) => event.createdAt.slice(14, 16))).toEqual(['01', '02', '03'])
    const [first] = before.filter((event) => event.workspaceId === workspaceId)
    expect(rows.at(-1)?.event).toEqual({ ...first, source: null })
  }
  // One that comes again, as after a reseed, and a new one.
  const [again] = before
  const events = [{ ...again, source: null } as PlatformEvent, foreignEvent(workspaces[0] ?? '')]
  await appendToChains(owner.sql, events, '2026-03-01T00:00:00.000Z')
  expect(await verify(workspaces[0] ?? '', {})).toMatchObject({ valid: true, checked: 4 })
})
