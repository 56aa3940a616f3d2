import { describe, expect, it } from '@jest/globals'
import { migrationStatements } from './statements.js'

const read = (sql: string, transactional = true) => migrationStatements(sql, { transactional, path: '/up' })

describe('the SQL of a migration', () => {
  it('is parsed statement by statement', async () => {
    const sql = `-- rooms
      create table rooms (
        name text not null unique,
        seats integer check (seats > 0) default 1,
        house text references houses (id) on delete cascade
      );
      insert into rooms (name) values (';'), ('b');
      create index rooms_seats on rooms (seats);`
    expect(await read(sql)).toEqual([
      expect.objectContaining({ changesRows: false, text: expect.stringContaining('create table rooms') }),
      expect.objectContaining({ changesRows: true, text: "insert into rooms (name) values (';'), ('b')" }),
      expect.objectContaining({ changesRows: false, buildsIndex: null }),
    ])
  })

  it.each([
    'alter table t add column a integer not null default 1, drop column b, alter column c type text using c::text',
    'alter table t alter column a set not null, add constraint x check (a > 0) not valid, drop constraint y',
    'alter table t validate constraint x',
    'alter table t rename column a to b',
    'alter table t rename to u',
    'alter index i rename to j',
    'drop table if exists t cascade',
    'drop index i',
    "create type mood as enum ('a', 'b')",
    "alter type mood add value 'c'",
    'drop type mood',
    "comment on table t is 'x'",
    "comment on column t.a is 'x'",
    'with gone as (delete from t returning *) insert into u select * from gone',
    'update t set a = 1',
    'create table t (a text); create unique index on t (lower(a)) where a is not null',
    'create table t (a int, b int generated always as (a * 2) stored, exclude using gist (a with =))',
  ])('may contain: %s', async (sql) => {
    await expect(read(sql)).resolves.toBeTruthy()
  })

  it.each([
    ...[
      'begin',
      'commit',
      'rollback',
      'set role x',
      'reset all',
      "set local search_path = 'x'",
      'do $$ begin end $$',
    ],
    ...[
      'truncate t',
      "copy t from program 'id'",
      'listen a',
      'notify a',
      'lock table t',
      'vacuum t',
      'call p()',
    ],
    ...[
      'create function f() returns int language sql as $$ select 1 $$',
      'drop function f()',
      'create procedure p() language sql as $$ $$',
    ],
    ...[
      'create trigger a after insert on t execute function f()',
      'drop trigger a on t',
      'alter trigger a on t rename to b',
    ],
    ...[
      'alter table t disable trigger all',
      'alter table t disable trigger user',
      'alter table t enable replica trigger a',
    ],
    ...[
      'alter table t owner to x',
      'alter table t inherit u',
      'alter table t enable row level security',
      'alter table t force row level security',
    ],
    ...[
      'alter table t disable rule r',
      'alter table t attach partition u default',
      'alter table t replica identity full',
      'alter table t set unlogged',
    ],
    ...[
      'alter table t set schema x',
      'alter table t set (fillfactor = 10)',
      'alter table t cluster on i',
      'alter view v rename to w',
    ],
    ...[
      'create rule r as on insert to t do instead nothing',
      'create view v as select 1',
      'create materialized view v as select 1',
    ],
    ...[
      'create policy p on t',
      'grant select on t to x',
      'revoke all on t from x',
      'create role x',
      'alter role x superuser',
    ],
    ...[
      'reassign owned by x to y',
      'drop owned by x',
      'create schema x',
      'drop schema x',
      'create extension dblink',
      'create sequence s',
    ],
    ...[
      'create table t partition of u default',
      'create table t (a int) partition by list (a)',
      'create table t (a int) inherits (u)',
    ],
    ...[
      'create temp table t (a int)',
      'create unlogged table t (a int)',
      'create table t as select 1',
      'select 1 into t',
      'select 1',
    ],
    ...[
      'create table t (a int) tablespace x',
      'create table other.t (a int)',
      'insert into other.t values (1)',
      'drop table other.t',
    ],
    ...[
      'delete from t using other.u',
      'alter table other.t add a int',
      'create table t (a text references other.u (id))',
      'create index on other.t (a)',
    ],
    ...[
      'create aggregate a (int) (sfunc = int4pl, stype = int)',
      'create operator = (leftarg = int, rightarg = int, function = int4eq)',
    ],
    ...[
      'create cast (int as text) without function',
      'create event trigger e on ddl_command_end execute function f()',
      'create domain d as int',
    ],
    ...[
      'create foreign table t (a int) server s',
      'create publication p',
      'alter system set a = 1',
      "security label on table t is 'x'",
    ],
    ...[
      'create statistics s on a from t',
      'alter default privileges grant all on tables to x',
      'explain analyze delete from t',
      'merge into t using u on true when matched then delete',
    ],
  ])('must not contain: %s', async (sql) => {
    await expect(read(sql)).rejects.toMatchObject({
      code: 'validation_failed',
      details: [{ path: '/up', code: 'statement_refused', params: { position: 1 } }],
    })
  })

  it('with a concurrent index operation contains nothing else and is not transactional', async () => {
    const sql = 'create index concurrently i on t (a); drop index concurrently j'
    expect(await read(sql, false)).toEqual([
      expect.objectContaining({ buildsIndex: 'i' }),
      expect.objectContaining({ buildsIndex: null }),
    ])
    for (const [text, transactional] of [
      [sql, true],
      ['create index i on t (a)', false],
    ] as const)
      await expect(read(text, transactional)).rejects.toMatchObject({
        details: [{ code: 'statement_refused' }],
      })
  })

  it('is rejected with the position of the invalid statement', async () => {
    await expect(read('drop table a;\n  truncate b')).rejects.toMatchObject({
      message: expect.stringContaining('TRUNCATE'),
      details: [{ params: { line: 2, column: 3 } }],
    })
    await expect(read('drop tabel a')).rejects.toMatchObject({
      details: [{ path: '/up', code: 'syntax_error' }],
    })
    await expect(read('-- nothing')).rejects.toMatchObject({ details: [{ code: 'no_statement' }] })
  })
})
