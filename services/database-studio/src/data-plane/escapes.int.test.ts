import { describe, expect, test } from '@jest/globals'
import { testRole } from '@opsplane/testing'
import { roleOfSpace, type SpaceRole } from './space.js'
import { deadline, type TwoSpaces, twoSpaces } from './two-spaces.fixture.js'

const at = twoSpaces()
const run: TwoSpaces['run'] = (...given) => at.run(...given)
const refusal: TwoSpaces['refusal'] = (...given) => at.refusal(...given)
const denied = '42501'

describe('ordinary SQL', () => {
  test('can be run by the reader and the runtime role', async () => {
    expect(await run('reader', ['select count(*)::int as n, max(text) as m from notes'])).toEqual([
      { n: 1, m: 'a note' },
    ])
    const many = [
      'select n, sum(n) over (order by n), random() >= 0 as r, gen_random_uuid() is not null as u from generate_series(1, 3) n',
      `select to_char(now(), 'YYYY') > '2000' as y, date_trunc('day', now()), now() at time zone 'UTC', age(now())`,
      `select jsonb_build_object('a', 1) -> 'a', '{"a":[1]}'::jsonb @> '{"a":[1]}', jsonb_path_query('[1]', '$[*]')`,
      `select to_tsvector('simple', text) @@ websearch_to_tsquery('simple', 'note'), text ilike '%NOTE%', extensions.similarity(text, 'note') from notes`,
      `select string_agg(text, ',' order by text), array_agg(text), percentile_cont(0.5) within group (order by version) from notes`,
      `with recursive r as (select 1 as n union all select n + 1 from r where n < 5) select sum(n) from r`,
      `select regexp_replace(text, 'a', 'b'), md5(text), encode(sha256('x'), 'hex'), format('%s', text), width_bucket(1.0, 0, 2, 3) from notes`,
      `select table_name from information_schema.tables where table_schema = '${at.ours.schema}'`,
      `select column_name, data_type from information_schema.columns where table_name = 'notes'`,
      'explain select * from notes',
    ]
    for (const statement of many)
      expect([statement, (await run('reader', [statement])).length > 0]).toEqual([statement, true])
    const written = await run('runtime', [
      `insert into notes (text) values ('b'), ('c')`,
      `update notes set text = text || '!' where text = 'b'`,
      `delete from notes where text = 'c'`,
      `insert into notes (id, text) values ('rec_01JZ8Q4D3N5W7X9Y2B4C6D8E0F', 'd') on conflict (id) do update set text = excluded.text returning text`,
    ])
    expect(written).toEqual([{ text: 'd' }])
  })

  test('of migrations can be run by the migrator role', async () => {
    const made = [
      'create table lists (id text primary key, n int check (n > 0))',
      'create index lists_n on lists (n)',
      'alter table lists add column name text not null default $$x$$',
      `create type mood as enum ('good', 'bad')`,
      'create view good as select * from lists',
      'insert into lists (id, n) values (1, 1)',
      'drop table lists cascade',
    ]
    expect(await refusal('migrator', ...made)).toBe('none')
  })
})

describe('other roles', () => {
  test.each<SpaceRole>(['runtime', 'reader', 'migrator'])('cannot be assumed by %s', async (role) => {
    const others = [
      'postgres',
      testRole('database_studio'),
      roleOfSpace(at.theirs, 'owner'),
      roleOfSpace(at.theirs, 'runtime'),
    ]
    for (const other of others) {
      expect(await refusal(role, `set role ${other}`)).toBe(denied)
      expect(await refusal(role, `set local role ${other}`)).toBe(denied)
      expect(await refusal(role, `set session authorization ${other}`)).toBe(denied)
      expect(await refusal(role, `select set_config('role', '${other}', true)`)).toBe(denied)
      expect(await refusal(role, `grant ${other} to current_user`)).toBe(denied)
    }
    await run(role, ['reset role', 'set role none'])
    const [after] = await run(role, [
      'reset role',
      `select current_user ~ '^${testRole(at.ours.schema)}_' as own`,
    ])
    expect(after).toEqual({ own: true })
    expect(await refusal(role, 'reset role', `select * from ${at.theirs.schema}.notes`)).toBe(denied)
  })

  test('and role attributes cannot be acquired by a tenant', async () => {
    for (const role of ['runtime', 'reader', 'migrator'] as const)
      for (const right of [
        'superuser',
        'createrole',
        'createdb',
        'bypassrls',
        'replication',
        'connection limit 1000',
      ])
        expect([right, await refusal(role, `alter role ${roleOfSpace(at.ours, role)} ${right}`)]).toEqual([
          right,
          denied,
        ])
    expect(await refusal('runtime', `alter role ${roleOfSpace(at.ours, 'reader')} password 'x'`)).toBe(denied)
    expect(
      await refusal('runtime', `alter role ${roleOfSpace(at.ours, 'runtime')} set temp_file_limit = '-1'`),
    ).toBe(denied)
  })
})

describe('data, names and definitions of other tenants', () => {
  test('cannot be read or changed', async () => {
    const hidden = [
      `select * from ${at.theirs.schema}.notes`,
      `insert into ${at.theirs.schema}.notes (text) values ('x')`,
      `delete from ${at.theirs.schema}.notes`,
      `select * from ${at.theirs.schema}_trash.notes`,
      'select * from database_studio.events',
      'select * from database_studio.plane_keys',
      'select * from database_studio.plane_sessions',
      `update database_studio.plane_sessions set acting = '{}'`,
      'select database_studio.add_event_month(current_date)',
      'select * from database_studio.spaces',
      ...[
        'pg_class',
        'pg_namespace',
        'pg_attribute',
        'pg_proc',
        'pg_roles',
        'pg_authid',
        'pg_shadow',
        'pg_database',
        'pg_settings',
      ],
      ...[
        'pg_stat_activity',
        'pg_tables',
        'pg_views',
        'pg_indexes',
        'pg_type',
        'pg_description',
        'pg_stats',
        'pg_constraint',
      ],
      ...[
        'pg_trigger',
        'pg_largeobject',
        'pg_locks',
        'pg_prepared_statements',
        'pg_hba_file_rules',
        'pg_statistic_ext_data',
      ],
    ].map((text) => (text.startsWith('pg_') ? `select * from pg_catalog.${text}` : text))
    for (const statement of hidden)
      for (const role of ['reader', 'runtime', 'migrator'] as const)
        expect([statement, await refusal(role, statement)]).toEqual([statement, denied])
  })

  test('are hidden in information_schema', async () => {
    for (const view of [
      'tables',
      'columns',
      'table_constraints',
      'key_column_usage',
      'schemata',
      'table_privileges',
      'sequences',
    ]) {
      const column =
        view === 'schemata' ? 'schema_name' : view === 'sequences' ? 'sequence_schema' : 'table_schema'
      const rows = await run('migrator', [
        `select distinct ${column} as name from information_schema.${view}`,
      ])
      const names = rows.map((row) => (row as { name: string }).name)
      expect(
        names.filter(
          (name) => name.includes(at.theirs.schema) || name === 'database_studio' || name === 'capture',
        ),
      ).toEqual([])
    }
    const sources = await run('reader', [
      `select routine_name from information_schema.routines where routine_definition is not null`,
    ])
    expect(sources).toEqual([])
  })

  test('are not disclosed by functions', async () => {
    const functions = [
      `query_to_xml('select 1', true, true, '')`,
      `table_to_xml('notes', true, true, '')`,
      `schema_to_xml('${at.theirs.schema}', true, true, '')`,
      `database_to_xml(true, true, '')`,
      `cursor_to_xml('c', 1, true, true, '')`,
      `ts_stat('select 1::text::tsvector')`,
      `ts_rewrite('a'::tsquery, 'select 1')`,
      `current_setting('data_directory')`,
      `pg_get_functiondef(1::oid)`,
      `pg_get_viewdef(1::oid)`,
      `pg_get_constraintdef(1::oid)`,
      `pg_get_triggerdef(1::oid)`,
      `pg_get_userbyid(10)`,
      `pg_describe_object(1::oid, 1::oid, 0)`,
      `pg_identify_object(1::oid, 1::oid, 0)`,
      `pg_relation_size(1::oid)`,
      `pg_relation_filepath(1::oid)`,
      `pg_database_size(1::oid)`,
      `pg_stat_get_activity(null)`,
      `pg_stat_get_backend_activity(1)`,
      `pg_show_all_settings()`,
      `pg_ls_dir('.')`,
      `pg_read_file('PG_VERSION')`,
      `pg_current_xact_id()`,
      `pg_export_snapshot()`,
      `pg_backend_pid()`,
      `format_type(1::oid, 0)`,
      `obj_description(1::oid, 'pg_class')`,
      `to_regclass('${at.theirs.schema}.notes')`,
      'version()',
      'inet_server_addr()',
    ]
    for (const call of functions)
      for (const role of ['reader', 'migrator'] as const)
        expect([call, await refusal(role, `select * from ${call}`)]).toEqual([call, denied])
  })
})

describe('settings', () => {
  test('of a session affect no other session and grant no rights', async () => {
    expect(await refusal('runtime', `select set_config('search_path', '${at.theirs.schema}', false)`)).toBe(
      denied,
    )
    expect(await refusal('runtime', `set search_path = ${at.theirs.schema}`, 'select * from notes')).toBe(
      '42P01',
    )
    expect(await refusal('runtime', `set session_replication_role = replica`)).toBe(denied)
    expect(await refusal('runtime', `set temp_file_limit = '-1'`)).toBe(denied)
    expect(await refusal('runtime', `set log_statement = 'all'`)).toBe(denied)
    expect(
      await refusal(
        'reader',
        'set default_transaction_read_only = off',
        `insert into notes (text) values ('x')`,
      ),
    ).toBe(denied)
    // A session setting with this name does not set the actor.
    await at.plane.session(at.ours, 'runtime', deadline, async ({ sql }) => {
      await sql.unsafe(`set studio.acting = '{"actor":{"id":"usr_other","name":"Other","type":"user"}}'`)
      await expect(sql.unsafe(`insert into notes (text) values ('x')`)).rejects.toMatchObject({
        code: denied,
      })
    })
    await at.plane.session(at.ours, 'runtime', deadline, async ({ sql }) => {
      const [row] = await sql.unsafe(`show search_path`)
      expect(row).toEqual({ search_path: `${at.ours.schema}, extensions` })
    })
  })

  test("keep the recorded actor when tenants' SQL calls studio.enter()", async () => {
    const insert = `insert into notes (text) values ('entered')`
    for (const role of ['runtime', 'migrator'] as const) {
      await run(role, ['select nonce from studio.enter()', insert])
      await run(role, [insert])
    }
    const actors = await at.admin`
      select actor->>'id' as id from events where workspace_id = 'ws_ours' and data#>>'{after,text}' = 'entered'`
    expect(actors.map(({ id }) => id)).toEqual(Array(4).fill('usr_1'))
  })

  test("and tables that are named like the platform's do not divert the platform's SQL", async () => {
    await run('migrator', ['create table events (id int)', 'create view spaces as select 1 as id'])
    await run('runtime', [`insert into notes (text) values ('other')`])
    const rows =
      await at.admin`select from events where workspace_id = 'ws_ours' and data#>>'{after,text}' = 'other'`
    expect(rows).toHaveLength(1)
    await run('migrator', ['drop table events', 'drop view spaces'])
  })
})

describe('code of a tenant', () => {
  test('cannot be installed or run', async () => {
    const made = [
      `create function f() returns int language sql as 'select 1'`,
      `create function f() returns int language sql return 1`,
      `create function f() returns trigger language plpgsql as 'begin return null; end'`,
      `create function f() returns int language plpgsql security definer as 'begin return 1; end'`,
      `create procedure p() language sql as 'select 1'`,
      'do $$ begin perform 1; end $$',
      `create function f() returns int language c as 'libc', 'system'`,
      'create extension dblink',
      'create extension postgres_fdw',
      'create extension plperl',
      `create trigger t before insert on notes for each row execute function suppress_redundant_updates_trigger()`,
      `create trigger t before insert on notes for each row execute function capture.refuse_truncate()`,
      `create rule r as on insert to notes do instead nothing`,
      `create policy p on notes using (true)`,
      `create aggregate a (int) (sfunc = int4pl, stype = int)`,
      `create operator === (leftarg = int, rightarg = int, function = int4eq)`,
      `create cast (text as json) with inout`,
      `create event trigger e on ddl_command_end execute function capture.guard()`,
      `create schema mine`,
      `create server s foreign data wrapper x`,
      `create publication p for table notes`,
      `create temporary table t (id int)`,
      `select * into temporary t from notes`,
      `copy notes to program 'id'`,
      `copy notes from '/etc/passwd'`,
      `load 'auto_explain'`,
    ]
    for (const statement of made)
      for (const role of ['reader', 'runtime', 'migrator'] as const)
        expect([
          statement,
          ['42501', '42704', '0A000', '42P17', '22023'].includes(await refusal(role, statement)),
        ]).toEqual([statement, true])
  })

  test('cannot change the server', async () => {
    const statements = [
      "create tablespace t location '/tmp'",
      "alter system set work_mem = '1GB'",
      'create database mine',
      'drop database postgres',
      'checkpoint',
    ]
    for (const statement of statements)
      for (const role of ['reader', 'runtime', 'migrator'] as const)
        await at.plane.session(at.ours, role, deadline, async ({ sql }) => {
          await expect(sql.unsafe(statement)).rejects.toHaveProperty('code', denied)
        })
  })

  test('cannot disable the capture of changes', async () => {
    const ways = [
      ['alter table notes disable trigger all'],
      ['alter table notes disable trigger user'],
      ['alter table notes disable trigger opsplane_insert'],
      ['alter table notes enable replica trigger opsplane_update'],
      ['drop trigger opsplane_delete on notes'],
      ['alter trigger opsplane_insert on notes rename to other'],
      ['truncate notes'],
      ['create table child () inherits (notes)'],
      ['create table parent (like notes)', 'alter table notes inherit parent'],
      ['alter table notes owner to current_user', 'grant truncate on notes to current_user'],
      [`alter default privileges grant all on tables to ${roleOfSpace(at.ours, 'reader')}`],
      [`grant insert on notes to ${roleOfSpace(at.ours, 'reader')}`],
      [`revoke select on notes from ${roleOfSpace(at.ours, 'reader')}`],
    ]
    for (const statements of ways)
      expect([statements, await refusal('migrator', ...statements)]).toEqual([statements, denied])
    const [{ count } = { count: 0 }] = await at.admin<{ count: number }[]>`
      select count(*)::int from pg_trigger where tgrelid = ${`${at.ours.schema}.notes`}::regclass and tgname like 'opsplane%' and tgenabled = 'A'`
    expect(count).toBe(6)
  })
})

test('the server has no hardening gaps when the provisioning role is a superuser', async () => {
  expect(await at.service.sql`select gap from hardening_gaps()`).toEqual([])
})
