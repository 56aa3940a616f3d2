import { describe, expect, it } from '@jest/globals'
import { parseStatements } from './grammar.js'
import { numberParameters } from './parameters.js'
import { checkQuery } from './statement.js'

const refusal = async (sql: string, mode: 'read' | 'write') => {
  try {
    await checkQuery(sql, mode)
  } catch (error) {
    return (error as { details: { code: string; message: string }[] }).details[0]
  }
  return undefined
}

describe('a query', () => {
  it.each([
    'select 1',
    'select 1;',
    ' ; select 1 ; ',
    '-- why\nselect 1 -- because',
    'values (1), (2)',
    'table people',
    'with recent as (select * from orders) select * from recent union all select * from orders',
    "select '; drop table x'",
    'select * from a cross join lateral (select 1) b',
    `select * from t where id in (${Array.from({ length: 5_000 }, (_, id) => id).join(', ')})`,
    `select ${Array.from({ length: 300 }, (_, n) => `c${n} = ${n}`).join(' and ')}`,
  ])('that reads is accepted: %.60s', async (sql) => {
    expect(await refusal(sql, 'read')).toBeUndefined()
  })

  it.each([
    'insert into t (a) values ($1) on conflict (a) do update set a = 2 returning *',
    'update t set a = 1 from u where u.id = t.id',
    'delete from t using u',
    'with gone as (delete from t returning *) insert into u select * from gone',
    'select * from t for update',
  ])('that writes requires mode write: %s', async (sql) => {
    expect(await refusal(sql, 'read')).toMatchObject({ code: 'mode_write_needed' })
    expect(await refusal(sql, 'write')).toBeUndefined()
  })

  it.each([
    ['select 1; select 2', 'several_statements'],
    ['', 'no_statement'],
    [' ; ', 'no_statement'],
    ['-- nothing', 'no_statement'],
    ['selec 1', 'syntax_error'],
    ["select 'open", 'syntax_error'],
    ['select * into t2 from t', 'statement_refused'],
    ...[
      ...[
        'set role x',
        "set local role 'x'",
        'reset role',
        'set session authorization x',
        'reset all',
        'show all',
      ],
      ...[
        'begin',
        'start transaction',
        'commit',
        'rollback',
        'savepoint a',
        "prepare transaction 'a'",
        'set transaction read write',
      ],
      ...[
        'do $$ begin end $$',
        "copy t from program 'id'",
        'copy t to stdout',
        'listen a',
        'notify a',
        'unlisten *',
      ],
      ...[
        'call p()',
        'prepare a as select 1',
        'execute a',
        'deallocate all',
        'discard all',
        'explain select 1',
      ],
      ...[
        'truncate t',
        'create table t (a int)',
        'create table t as select 1',
        'drop table t',
        'alter table t add a int',
      ],
      ...[
        'create function f() returns int language sql as $$ select 1 $$',
        'create trigger a after insert on t execute function f()',
      ],
      ...[
        'grant select on t to x',
        'revoke all on t from x',
        'create role x',
        'alter role x superuser',
        'drop owned by x',
      ],
      ...[
        'lock table t',
        'declare c cursor for select 1',
        'fetch c',
        'close c',
        'vacuum',
        'analyze',
        'cluster',
        'reindex table t',
      ],
      ...[
        'merge into t using u on true when matched then delete',
        'refresh materialized view v',
        'checkpoint',
        "load 'x'",
      ],
      ...[
        'create extension dblink',
        "security label on table t is 'x'",
        "comment on table t is 'x'",
        'alter system set a = 1',
      ],
      ...[
        'create view v as select 1',
        'create rule r as on insert to t do instead nothing',
        'create schema x',
        'import foreign schema a from server b into c',
      ],
    ].map((sql) => [sql, 'statement_refused']),
  ])('is rejected in either mode: %s', async (sql, code) => {
    expect(await refusal(sql, 'read')).toMatchObject({ code })
    expect(await refusal(sql, 'write')).toMatchObject({ code })
  })

  it.each([
    "select '16384'::regclass",
    'select cast(16384 as pg_catalog.regclass)',
    "select regclass('16384'), 1",
    'select 16384::oid::regtype::text',
    "select * from json_to_record('{}') as r(a regrole)",
    "select array['16384']::regproc[]",
  ])('that resolves names from numbers is rejected: %s', async (sql) => {
    expect(await refusal(sql, 'read')).toMatchObject({ code: 'type_refused' })
  })

  it.each([
    ['operators', `select ${'1+'.repeat(60_000)}1`],
    ['brackets', `select ${'('.repeat(9_000)}1${')'.repeat(9_000)}`],
    ['NOT', `select ${'not '.repeat(9_000)}true`],
    ['subqueries', `select ${'(select '.repeat(2_000)}1${')'.repeat(2_000)}`],
    ['set operations', `select 1${' union select 1'.repeat(9_000)}`],
    ['joins', `select 1 from a${', a join b on true'.repeat(5_000)}`],
    ['arrays', `select ${'array['.repeat(5_000)}1${']'.repeat(5_000)}`],
  ])('that would exhaust the parser is rejected, and the next query is parsed: %s', async (_, sql) => {
    expect(await refusal(sql, 'read')).toMatchObject({ code: 'too_deep' })
    expect(await refusal('select 1', 'read')).toBeUndefined()
  })

  it('is rejected with the position of the error in characters', async () => {
    const error = await checkQuery("select 'é🙂',\nfrom t", 'read').catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({
      code: 'validation_failed',
      details: [{ path: '/sql', params: { position: 14, line: 2, column: 1, sqlState: '42601' } }],
    })
    const second = await checkQuery('select 1;\n drop table t', 'read').catch((thrown: unknown) => thrown)
    expect(second).toMatchObject({ details: [{ params: { position: 12, line: 2, column: 2 } }] })
  })
})

describe('named parameters', () => {
  const numbered = async (sql: string) => {
    const { text, names, count } = await numberParameters(sql)
    return { text, names, count }
  }

  it('are numbered, one number for each name', async () => {
    expect(await numbered('select * from t where a = :a and b > :min_b::int or a <> :a')).toEqual({
      text: 'select * from t where a = $1 and b > $2::int or a <> $1',
      names: ['a', 'min_b'],
      count: 2,
    })
  })

  it.each([
    ["select ':a', \":b\", $$ :c $$, e'\\':d', x::int -- :e\n /* :f */ from t"],
    ['select x[1:n], x[a:b], x[(1):n], x[f(1):n] from t'],
    ["select json_object('a' : 1)"],
  ])('are not recognized in strings, quoted names, comments, casts and slices: %s', async (sql) => {
    expect(await numbered(sql)).toEqual({ text: sql, names: [], count: 0 })
  })

  it('may be bounds of a slice and elements of an array', async () => {
    expect((await numbered('select x[:a], array[:b, case when :c then 1 end]')).names).toEqual([
      'a',
      'b',
      'c',
    ])
  })

  it('cannot be mixed with numbered parameters, which must have no gaps', async () => {
    expect(await numbered('select $1, $2, $1')).toMatchObject({ count: 2 })
    await expect(numbered('select $1, :a')).rejects.toMatchObject({ details: [{ code: 'mixed_parameters' }] })
    await expect(numbered('select $2')).rejects.toMatchObject({ details: [{ code: 'missing_parameter' }] })
  })

  it('are cast to their declared types', async () => {
    const types = { a: 'timestamp', b: 'integer[]' } as const
    expect((await numberParameters('select :a, :c, :b', types)).text).toBe(
      'select ($1::timestamptz), $2, ($3::integer[])',
    )
    expect((await numberParameters('select $1', { 1: 'decimal' })).text).toBe('select ($1::numeric)')
  })

  it('preserve the positions of errors', async () => {
    const sql = "select 'é', :first, :a, oops, :first, more"
    const { text, writtenPosition } = await numberParameters(sql, { a: 'json' })
    for (const word of ['oops', 'more', 'select'])
      expect(writtenPosition([...text].join('').indexOf(word) + 1)).toBe(sql.indexOf(word) + 1)
  })
})

// A quadratic scan of this text would take minutes, and the test would time out.
describe('a long text is scanned once', () => {
  it('with any number of spaces', async () => {
    const text = `select 1, '${' '.repeat(1_000_000)}'`
    expect(await parseStatements(`${text} ;; \n`)).toEqual([expect.objectContaining({ text, start: 0 })])
  })

  it('with any number of statements', async () => {
    const statements = await parseStatements('select 1; '.repeat(100_000))
    expect(statements).toHaveLength(100_000)
    expect(statements.at(-1)).toMatchObject({ text: 'select 1', start: 999_990 })
  })
})
