import { afterAll, beforeAll, expect, it } from '@jest/globals'
import postgres from 'postgres'
import { computeColumnsTogether, computedBy } from './computed-columns.js'

const schema = `computed_${process.pid}`
const generated = (name: string, field: string) =>
  `${name} text generated always as (state->>'${field}') stored`

let sql: postgres.Sql
beforeAll(async () => {
  sql = postgres(process.env.TEST_DATABASE_URL ?? '', {
    max: 1,
    onnotice: () => {},
    connection: { search_path: schema },
  })
  await sql.unsafe(`
    create schema ${schema};
    create function shout(word text) returns text language sql immutable return upper(word) || '!';
    create table things (
      id text primary key, state json not null, ${generated('name', 'name')}, ${generated('kind', 'kind')},
      size integer generated always as ((state->>'size')::integer) stored,
      loud text generated always as (shout(state->>'name')) stored, note text);
    create table few (id text primary key, state json not null, ${generated('name', 'name')});
    insert into things (id, state) values ('old', '{"name": "a", "kind": "x", "size": 1}')`)
  await computeColumnsTogether(sql, schema)
})
afterAll(async () => {
  await sql.unsafe(`drop schema ${schema} cascade`)
  await sql.end()
})

const thing = async (id: string) => (await sql`select name, kind, size, loud from things where id = ${id}`)[0]
const generatedIn = async (table: string) =>
  (
    await sql`select attname as name from pg_attribute
      where attrelid = ${`${schema}.${table}`}::regclass and attgenerated = 's' order by 1`
  ).map(({ name }) => name)

it('computes the former generated columns of new and changed rows, and keeps existing values', async () => {
  expect(await generatedIn('things')).toEqual([])
  expect(await thing('old')).toEqual({ name: 'a', kind: 'x', size: 1, loud: 'A!' })
  await sql`insert into things (id, state) values ('new', '{"name": "b", "size": 2, "more": [1]}')`
  expect(await thing('new')).toEqual({ name: 'b', kind: null, size: 2, loud: 'B!' })
  await sql`update things set state = '{"name": "c"}' where id = 'new'`
  expect(await thing('new')).toEqual({ name: 'c', kind: null, size: null, loud: 'C!' })
})

it('accepts values given by an insert, and computes them when the row changes', async () => {
  await sql`insert into things (id, state, name, size) values ('given', '{"name": "e", "size": 3}', 'e', 3)`
  expect(await thing('given')).toEqual({ name: 'e', kind: null, size: 3, loud: null })
  await sql`update things set state = '{"name": "f", "size": 4}' where id = 'given'`
  expect(await thing('given')).toEqual({ name: 'f', kind: null, size: 4, loud: 'F!' })
})

it('finds the functions it calls, whatever the search_path of the session', async () => {
  await sql.begin(async (tx) => {
    await tx`set local search_path to pg_catalog`
    await tx.unsafe(`insert into ${schema}.things (id, state) values ('far', '{"name": "d"}')`)
  })
  expect(await thing('far')).toMatchObject({ loud: 'D!' })
})

it('rejects values that the generated columns rejected', async () => {
  await expect(sql`insert into things (id, state) values ('bad', '{"size": "large"}')`).rejects.toThrow(
    /integer/,
  )
})

it('includes the columns of later migrations', async () => {
  await sql.unsafe(`alter table things add column ${generated('place', 'place')}, drop column kind`)
  await computeColumnsTogether(sql, schema)
  expect(await generatedIn('things')).toEqual([])
  await sql`insert into things (id, state) values ('later', '{"name": "e", "place": "here"}')`
  expect((await sql`select name, place from things where id = 'later'`)[0]).toEqual({
    name: 'e',
    place: 'here',
  })
})

it('fills a column that a migration adds, also in rows written meanwhile', async () => {
  await sql.unsafe(`
    insert into things (id, state) values ('tagged', '{"tags": ["a"]}'), ('plain', '{"tags": []}');
    alter table things add column tags jsonb;
    comment on column things.tags is 'computed, to fill: nullif((state->''tags'')::jsonb, ''[]'')';
    insert into things (id, state) values ('meanwhile', '{"tags": ["b"]}')`)
  await computeColumnsTogether(sql, schema)
  await sql`insert into things (id, state) values ('after', '{"tags": ["c"]}')`
  const ids = ['tagged', 'plain', 'meanwhile', 'after']
  expect(
    await sql`select id, tags from things where id = any(${ids}) order by array_position(${ids}, id)`,
  ).toEqual([
    { id: 'tagged', tags: ['a'] },
    { id: 'plain', tags: null },
    { id: 'meanwhile', tags: ['b'] },
    { id: 'after', tags: ['c'] },
  ])
  await sql`update things set tags = null where id = 'tagged'`
  await computeColumnsTogether(sql, schema)
  expect([...(await sql`select tags from things where id = 'tagged'`)]).toEqual([{ tags: null }])
})

it('leaves tables unchanged where it would save nothing', async () => {
  expect(await generatedIn('few')).toEqual(['name'])
})

it('reports the expression of each computed column', async () => {
  const rows = await sql.unsafe(
    `select attrelid::regclass::text as table, attname as name, ${computedBy} as expression from pg_attribute a
     where attrelid in ('few'::regclass, 'things'::regclass) and attname in ('name', 'note') order by 1, 2`,
  )
  const expression = "(state ->> 'name'::text)"
  expect([...rows]).toEqual([
    { table: 'few', name: 'name', expression },
    { table: 'things', name: 'name', expression },
    { table: 'things', name: 'note', expression: null },
  ])
})
