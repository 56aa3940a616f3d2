import { describe, expect, test } from '@jest/globals'
import type { Sql } from 'postgres'
import { roleOfSpace } from './space.js'
import { deadline, type TwoSpaces, twoSpaces } from './two-spaces.fixture.js'

const at = twoSpaces()
const run: TwoSpaces['run'] = (...given) => at.run(...given)
const refusal: TwoSpaces['refusal'] = (...given) => at.refusal(...given)
const denied = '42501'

describe('SQL that blocks, runs for long or exhausts resources', () => {
  test('cannot call functions that sleep, lock or notify', async () => {
    const functions = [
      'pg_sleep(60)',
      `pg_sleep_for('1 minute')`,
      `pg_sleep_until('infinity')`,
      'pg_advisory_lock(1)',
      'pg_try_advisory_lock(1)',
      'pg_advisory_xact_lock_shared(1)',
      `pg_notify('c', 'x')`,
      'pg_listening_channels()',
      'lo_create(0)',
      `lo_from_bytea(0, 'x')`,
      'lo_creat(0)',
      'lo_unlink(1)',
      `lo_import('/etc/passwd')`,
      `lo_export(1, '/tmp/x')`,
      'pg_cancel_backend(1)',
      'pg_terminate_backend(1)',
      'pg_reload_conf()',
      'pg_rotate_logfile()',
      'pg_switch_wal()',
      `pg_logical_emit_message(true, 'a', 'b')`,
      `pg_create_restore_point('x')`,
      'pg_stat_reset()',
      'pg_backend_pid()',
    ]
    for (const call of functions)
      for (const role of ['reader', 'runtime', 'migrator'] as const)
        expect([call, await refusal(role, `select ${call}`)]).toEqual([call, denied])
  })

  test('is terminated at its deadline, or at the limit of temporary files', async () => {
    const floods = [
      'with recursive r as (select 1 as n union all select n + 1 from r) select count(*) from r',
      `select count(*) from generate_series(1, 1e7::int) a, generate_series(1, 1e7::int) b`,
      `select length(string_agg(repeat('x', 1000), '')) from generate_series(1, 1e9::bigint)`,
      `select * from (select repeat(md5(n::text), 40) as s from generate_series(1, 10000000) n) t order by s desc limit 1`,
    ]
    for (const flood of floods) {
      const flooding = at.plane.session(
        at.ours,
        'reader',
        { deadlineMs: 1_500 },
        async ({ sql }: { sql: Sql }) => {
          await sql.unsafe('set statement_timeout = 0')
          await sql.unsafe(flood)
        },
      )
      await expect(flooding).rejects.toHaveProperty(
        'code',
        expect.stringMatching(/^(upstream_timeout|53400|54000)$/),
      )
    }
    const [shown] =
      await at.admin`select rolconfig from pg_roles where rolname = ${roleOfSpace(at.ours, 'reader')}`
    expect(shown).toEqual({ rolconfig: ['temp_file_limit=256MB'] })
    expect(await run('reader', ['select 1 as n'])).toEqual([{ n: 1 }])
  })

  test('does not reach other sessions by NOTIFY', async () => {
    const received: string[] = []
    await at.plane.session(at.theirs, 'reader', deadline, async ({ sql }) => {
      await sql.unsafe('listen c')
      await run('runtime', [`notify c, 'x'`])
      const [row] = await sql.unsafe('select 1 as n')
      expect(row).toEqual({ n: 1 })
    })
    expect(received).toEqual([])
    // LISTEN is ended before the session is reused.
    expect(await run('reader', ['select 1 as n'], at.theirs)).toEqual([{ n: 1 }])
  })
})
