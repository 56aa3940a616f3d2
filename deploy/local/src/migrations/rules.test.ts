import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from '@jest/globals'
import { migrationHashes, publishedMigrations } from './published.js'
import { breakingStatements } from './rules.js'

const root = fileURLToPath(new URL('../../../..', import.meta.url))
const now = migrationHashes(root)
const published = publishedMigrations(root)

describe('the migrations of the platform', () => {
  test('a published migration is never changed', () => {
    const changed = Object.entries(published).filter(([path, hash]) => now[path] !== hash)
    expect(changed.map(([path]) => path)).toEqual([])
  })

  const added = Object.keys(now).filter((path) => !(path in published))
  test.each(added.length > 0 ? added : [undefined])('%s is compatible with the previous version', (path) => {
    expect(path === undefined ? [] : breakingStatements(readFileSync(join(root, path), 'utf8'))).toEqual([])
  })
})

describe('a statement is incompatible with the running previous version', () => {
  test.each([
    ['drop table', 'DROP TABLE "loans" CASCADE;'],
    ['drop view', 'DROP VIEW open_loans;'],
    ['drop column', 'ALTER TABLE "loans" DROP COLUMN "due_at";'],
    ['drop column', 'alter table only lending.loans add column a text,\n  drop column if exists b'],
    ['rename', 'ALTER TABLE "loans" RENAME COLUMN "due" TO "due_at";'],
    ['rename', 'ALTER TABLE "loans" RENAME TO "lendings";'],
    ['rename', 'ALTER INDEX a RENAME TO b'],
    ['change of a type', 'ALTER TABLE "loans" ALTER COLUMN "n" SET DATA TYPE bigint;'],
    ['change of a type', 'ALTER TABLE loans ALTER n TYPE bigint USING n::bigint'],
    ['set not null', 'ALTER TABLE "loans" ALTER COLUMN "n" SET NOT NULL;'],
    ['drop default', 'ALTER TABLE "loans" ALTER COLUMN "n" DROP DEFAULT;'],
    ['not null without', 'ALTER TABLE "loans" ADD COLUMN "n" integer NOT NULL;'],
    ['not null without', `ALTER TABLE loans ADD n text NOT NULL -- default '' later`],
    ['a constraint', 'ALTER TABLE "loans" ADD CONSTRAINT "positive" CHECK (n > 0);'],
    ['an index', 'CREATE INDEX "loans_n" ON "loans" USING btree ("n");'],
    ['an index', 'create unique index if not exists loans_n on only lending.loans (n)'],
  ])('%s: %s', (reason, sql) => {
    const [broken] = breakingStatements(`CREATE TABLE other ();--> statement-breakpoint\n${sql}`)
    expect(broken?.reason.startsWith(reason)).toBe(true)
  })

  test.each([
    [
      'a new table with an index and a constraint',
      'create table loans (n int not null); create index i on loans (n); alter table loans add constraint c check (n > 0)',
    ],
    ['a column that may be empty', 'ALTER TABLE "loans" ADD COLUMN "n" integer;'],
    ['a column with a default', `ALTER TABLE loans ADD COLUMN n text DEFAULT 'no' NOT NULL`],
    ['a column with a default behind', `ALTER TABLE loans ADD COLUMN n text NOT NULL DEFAULT 'no'`],
    ['a constraint for new rows', 'ALTER TABLE loans ADD CONSTRAINT c CHECK (n > 0) NOT VALID'],
    ['words in a comment', '-- drop table loans\nselect 1 /* drop table loans */'],
    ['words in a function', 'create function f() returns void language sql as $$ drop table loans $$'],
    ['words in a text', `insert into notes values ('; drop table loans')`],
    ['what is dropped as a contract step', '-- contract: unused since 0.4.0\nDROP TABLE loans'],
    ['an index on little', '-- brief: a row for each webhook\nCREATE INDEX i ON webhooks (n)'],
  ])('unless it contains only %s', (_what, sql) => {
    expect(breakingStatements(sql)).toEqual([])
  })

  test('a mark exempts only its own statement, and only from its own kind of rule', () => {
    const marked = '-- contract: unused since 0.4.0\nDROP TABLE a;\n--> statement-breakpoint\nDROP TABLE b;'
    expect(breakingStatements(marked).map(({ statement }) => statement)).toEqual(['drop table b'])
    expect(breakingStatements('-- brief: short\nDROP TABLE a')).toHaveLength(1)
  })
})
