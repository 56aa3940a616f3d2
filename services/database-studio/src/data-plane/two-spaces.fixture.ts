import { afterAll, beforeAll } from '@jest/globals'
import { newId } from '@opsplane/contracts'
import { openTestDataPlane, type TestDataPlane } from './data-plane.fixture.js'
import { roleOfSpace, type Space, type SpaceRole } from './space.js'

const acting = { actor: { id: 'usr_1', name: 'Ann', type: 'user' as const }, requestId: 'request-1' }
export const deadline = { deadlineMs: 20_000 }

/** Two tenants with a `notes` table each, and helpers for attempts to escape from a tenant's session. */
export interface TwoSpaces extends TestDataPlane {
  ours: Space
  theirs: Space
  /** Runs statements in sequence in a tenant session, as the tenant's own SQL runs, in a transaction with an actor. */
  run(role: SpaceRole, statements: readonly string[], space?: Space): Promise<object[]>
  /** SQLSTATE with which Postgres rejects the statements; `none` if it accepts them. */
  refusal(role: SpaceRole, ...statements: string[]): Promise<string>
}

/** For the tests of one file; the returned members are usable once the tests run. */
export function twoSpaces(): TwoSpaces {
  const at = {} as TwoSpaces
  beforeAll(async () => void Object.assign(at, await startTwoSpaces()))
  afterAll(() => at.close?.())
  return at
}

async function startTwoSpaces(): Promise<TwoSpaces> {
  const at = await openTestDataPlane()
  const ours = await at.plane.space({ workspaceId: 'ws_ours', environment: 'production' })
  const theirs = await at.plane.space({ workspaceId: 'ws_theirs', environment: 'production' })
  for (const space of [ours, theirs]) {
    await at.service.sql.begin(async (tx) => {
      await tx.unsafe(`set local role ${roleOfSpace(space, 'owner')}`)
      await tx.unsafe(`create table ${space.schema}.notes (id text primary key default studio.new_record_id(), version integer not null,
        created_at timestamptz(3) not null, updated_at timestamptz(3) not null, text text, at timestamptz(3) default now())`)
      await tx.unsafe('set local role none')
      await tx.unsafe(`select attach_capture($1, $2, 'notes', 'notes')`, [newId('table'), space.schema])
    })
    await at.plane.write(space, acting, (tx) => tx.unsafe(`insert into notes (text) values ('a note')`))
  }

  const run = (role: SpaceRole, statements: readonly string[], space = ours) =>
    at.plane.session(space, role, deadline, ({ sql, act }) =>
      sql.begin(async (tx) => {
        if (role !== 'reader') await act(tx, acting)
        let rows: object[] = []
        for (const statement of statements) rows = [...(await tx.unsafe(statement))]
        return rows
      }),
    )

  const refusal = async (role: SpaceRole, ...statements: string[]): Promise<string> => {
    try {
      await run(role, statements)
      return 'none'
    } catch (error) {
      return (error as { code?: string }).code ?? String(error)
    }
  }

  return { ...at, ours, theirs, run, refusal }
}
