/**
 * Reason a migration may not run while the previous version is running; `statement` is the beginning of the
 * statement.
 */
export interface BreakingStatement {
  statement: string
  reason: string
}

const marks = { contract: /^--\s*contract:\s*\S/m, brief: /^--\s*brief:\s*\S/m }

const table = String.raw`(?:if (?:not )?exists )?(?:only )?((?:"?\w+"?\.)?"?\w+"?)`
const alter = `^alter table ${table} .*`

/** `mark` is the comment that allows an intended statement. */
const rules: { pattern: RegExp; reason: string; mark: keyof typeof marks; exceptNew?: boolean }[] = [
  ...[
    'drop table',
    'drop view',
    'drop materialized view',
    'drop function',
    'drop type',
    'drop sequence',
    'drop schema',
  ].map((statement) => ({
    pattern: new RegExp(`^${statement}\\b`),
    reason: `${statement}: the version before may still use it`,
    mark: 'contract' as const,
  })),
  rule(`${alter}\\bdrop column\\b`, 'drop column: the version before may still read or write it', 'contract'),
  rule(`${alter}\\brename\\b`, 'rename: the version before knows the old name only', 'contract'),
  rule('^alter \\w+ .*\\brename to\\b', 'rename: the version before knows the old name only', 'contract'),
  rule(
    `${alter}\\balter (?:column )?"?\\w+"? (?:set data )?type\\b`,
    'change of a type: it rewrites the table under a lock, and the version before writes the old one',
    'contract',
  ),
  rule(
    `${alter}\\balter (?:column )?"?\\w+"? set not null\\b`,
    'set not null: the version before may write null, and every row is read under a lock',
    'contract',
  ),
  rule(
    `${alter}\\balter (?:column )?"?\\w+"? drop default\\b`,
    'drop default: the version before may leave the column out',
    'contract',
  ),
  rule(
    `${alter}\\badd (?:column )?(?!constraint\\b).*\\bnot null\\b(?!.*\\b(?:default|generated)\\b)(?<!\\b(?:default|generated)\\b.*)`,
    'not null without a default: what the version before inserts would fail',
    'contract',
  ),
  {
    ...rule(
      `${alter}\\badd constraint\\b(?!.*\\bnot valid\\b)`,
      'a constraint: the version before may break it, and every row is read under a lock; add it NOT VALID, or say -- brief: why',
      'brief',
    ),
    exceptNew: true,
  },
  {
    ...rule(
      `^create (?:unique )?index (?:if not exists )?(?:"?\\w+"? )?on ${table}`,
      'an index: writes to the table wait while it is made; say -- brief: why that is short',
      'brief',
    ),
    exceptNew: true,
  },
]

function rule(pattern: string, reason: string, mark: keyof typeof marks) {
  return { pattern: new RegExp(pattern), reason, mark }
}

/** Statements of a migration that break or block the version running before it, and that are not marked as intended. */
export function breakingStatements(sql: string): BreakingStatement[] {
  const statements = statementsOf(sql)
  const made = new Set(statements.flatMap(({ text }) => nameIn(text, `^create (?:unlogged )?table ${table}`)))
  return statements.flatMap(({ text, raw }) => {
    const broken = rules.find(
      ({ pattern, mark, exceptNew }) =>
        pattern.test(text) && !marks[mark].test(raw) && !(exceptNew && isOfNew(text, pattern, made)),
    )
    return broken ? [{ statement: text.slice(0, 80), reason: broken.reason }] : []
  })
}

const nameIn = (text: string, pattern: string): string[] => {
  const name = new RegExp(pattern).exec(text)?.[1]
  return name === undefined ? [] : [bare(name)]
}
const bare = (name: string): string => name.replaceAll('"', '').split('.').at(-1) ?? name

/** Whether the statement is about a table that the same migration creates: nothing else uses that table yet. */
function isOfNew(text: string, pattern: RegExp, made: ReadonlySet<string>): boolean {
  const name = pattern.exec(text)?.[1]
  return name !== undefined && made.has(bare(name))
}

/** Statements in lower case, on one line, without comments and without quoted text of any kind. */
function statementsOf(sql: string): { raw: string; text: string }[] {
  return sql.split('--> statement-breakpoint').flatMap((part) => {
    const code = part
      .replaceAll(/\$(\w*)\$[\s\S]*?\$\1\$/g, '$$$$')
      .replaceAll(/--[^\n]*/g, '')
      .replaceAll(/\/\*[\s\S]*?\*\//g, '')
      .replaceAll(/'(?:[^']|'')*'/g, "''")
    const texts = code.split(';').map((text) => text.replaceAll(/\s+/g, ' ').trim().toLowerCase())
    return texts.filter((text) => text !== '').map((text) => ({ raw: part, text }))
  })
}
