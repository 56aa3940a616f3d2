import { describe, expect, it } from '@jest/globals'
import { checkExpression } from './expression.js'

const columns = ['qty', 'price', 'title', 'tags', 'due_at', 'data']
const check = (sql: string, kind: 'check' | 'default' | 'computed' = 'check') =>
  checkExpression(sql, { columns: kind === 'default' ? [] : columns, kind, path: '/checks/0' })

describe('an expression of a definition', () => {
  it.each([
    ['qty > 0', ['qty']],
    ['qty * price', ['qty', 'price']],
    ["title ~ '^[A-Z]' and length(btrim(title)) between 1 and 80", ['title']],
    ["title in ('a', 'b') or title is null", ['title']],
    ["lower(title) || ' ' || coalesce(data->>'name', 'none')", ['title', 'data']],
    ["case when qty > 10 then 'many' else 'few' end", ['qty']],
    ['round(price::numeric, 2) >= greatest(qty, 1)', ['price', 'qty']],
    ["extract(year from due_at at time zone 'utc') > 2000", ['due_at']],
    ["jsonb_typeof(data) = 'object'", ['data']],
    ["title = any(array['x', 'y']) and not qty is distinct from 3", ['title', 'qty']],
    ["title like 'a%' escape '!' and title ilike 'b'", ['title']],
    ["trim(both 'x' from title) <> '' and nullif(qty, 0) is not null", ['title', 'qty']],
    ["'é' < title", ['title']],
  ])('is accepted: %s', async (sql, named) => {
    expect((await check(sql)).columns.sort()).toEqual([...named].sort())
  })

  it.each([
    'now()',
    'current_timestamp',
    'current_date',
    'gen_random_uuid()',
    "'open'",
    '-1.5',
    "'{}'::jsonb",
    "now() + interval '7 days'",
  ])('is accepted as a default: %s', async (sql) =>
    expect(await check(sql, 'default')).toEqual({ columns: [] }),
  )

  it.each([
    ['pg_sleep(10) is null', 'pg_sleep'],
    ["set_config('role', 'x', true) = ''", 'set_config'],
    ["repeat('x', 1000000000) = title", 'repeat'],
    ["current_setting('x') = title", 'current_setting'],
    ["query_to_xml('select 1', true, true, '') is null", 'query_to_xml'],
    ['qty > (select count(*) from secrets)', 'SubLink'],
    ['exists (select 1)', 'SubLink'],
    ['qty in (select 1)', 'SubLink'],
    ['count(*) > 0', 'count'],
    ['sum(qty) over () > 0', 'sum'],
    ['now() > due_at', 'now'],
    ['current_timestamp > due_at', 'changes by itself'],
    ["current_user = 'x'", 'changes by itself'],
    ['other > 1', 'names no column'],
    ['secrets.qty > 1', 'names no column'],
    ['other_schema.lower(title) is null', 'other_schema.lower'],
    ['title::regclass is null', 'regclass'],
    ["'x'::public.thing is null", 'public.thing'],
    ['title OPERATOR(evil.=) title', 'evil.='],
    ['(qty).secret > 1', 'A_Indirection'],
    ['title collate "en" > title', 'CollateClause'],
    ['row(qty, price) is null', 'RowExpr'],
    ['$1 > 1', 'ParamRef'],
    ['grouping(qty) > 1', 'GroupingFunc'],
    ['xmlelement(name a) is null', 'XmlExpr'],
  ])('is rejected: %s', async (sql, naming) => {
    await expect(check(sql)).rejects.toMatchObject({
      code: 'validation_failed',
      message: expect.stringContaining(naming),
      details: [{ path: '/checks/0', params: { position: expect.any(Number) } }],
    })
  })

  it.each([
    'qty > 0) or (true',
    'qty > 0); drop table x; select (1',
    'qty > 0, price > 0',
    'qty > 0 as x',
    'qty > 0 from t',
    'qty > 0 where true',
    'qty > 0 union select true',
    'distinct qty > 0',
    'qty > 0 -- and',
    'qty > 0 /* and */',
    'qty > 0 for update',
    'qty > 0 limit 1',
    '*',
    '',
    ' ',
    'qty >',
  ])('is rejected if it is not exactly one expression: %s', async (sql) => {
    await expect(check(sql)).rejects.toMatchObject({ code: 'validation_failed' })
  })

  it('is rejected with the position of the error', async () => {
    await expect(check("title = 'é' and pg_sleep(1) is null")).rejects.toMatchObject({
      details: [{ params: { position: 17, line: 1, column: 17 } }],
    })
    await expect(check('qty >\n > 1')).rejects.toMatchObject({ details: [{ params: { line: 2 } }] })
  })
})
