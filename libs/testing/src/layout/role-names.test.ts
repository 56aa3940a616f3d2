import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from '@jest/globals'
import { backendNames } from '@opsplane/contracts'

const root = fileURLToPath(new URL('../../../../', import.meta.url))
const built = new Set(['node_modules', 'dist', 'bundle'])

/** Paths of SQL and TypeScript files below a folder, from the root; installed and built folders contain circular links. */
const sourcesBelow = (folder: string): string[] =>
  readdirSync(`${root}${folder}`, { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`
    if (entry.isDirectory()) return built.has(entry.name) ? [] : sourcesBelow(path)
    return /\.(?:sql|ts)$/.test(path) && !/\.(?:test|fixture)\.ts$/.test(path) ? [path] : []
  })
const sources = ['libs', 'services', 'deploy', 'cli'].flatMap(sourcesBelow)

/** Roles have the prefix of an installation: a literal name belongs to another installation or to none. */
const compared =
  /\b(?:session_user|current_user|current_role|rolname|usename|grantee)\b\s*(?:=|<>|!=|!?~\*?|(?:not\s+)?(?:in|like)\b)\s*\(?\s*(?:e?'|'\{)/i
const roles = [...backendNames.map((name) => name.replaceAll('-', '_')), 'studio_tenant'].join('|')
const granted = new RegExp(
  String.raw`\b(?:grant|revoke)\b[^;]*?\b(?:to|from)\s+(?:[\w%:]+\s*,\s*)*(?:${roles})\b|\b(?:role|authorization)\s+(?:${roles})\b`,
  'i',
)

const faultsOf = (text: string): string[] =>
  text
    .split(/;|\n/)
    .filter((part) => compared.test(part) || (/\.sql$|grant|revoke|role/i.test(part) && granted.test(part)))

test.each([
  "if session_user = 'database_studio' then",
  "where rolname in ('itsm')",
  "session_user !~ '^s_[0-9a-z]{12}_(runtime)$'",
  'grant select on spaces to database_studio',
  'grant usage on schema studio to studio_tenant',
  'grant connect on database %I to studio_tenant, database_studio',
  'alter role itsm noinherit',
])('%s contains a literal role', (statement) => {
  expect(faultsOf(statement)).toEqual([statement])
})

test.each([
  'grant select on spaces to :service',
  "session_user = opsplane.role_name('database_studio')",
  'where usename = any($1::text[])',
])('%s contains no literal role', (statement) => {
  expect(faultsOf(statement)).toEqual([])
})

test('no SQL names or compares a literal role', () => {
  expect(sources.length).toBeGreaterThan(500)
  const faults = sources.flatMap((path) =>
    faultsOf(readFileSync(`${root}${path}`, 'utf8')).map((fault) => `${path}: ${fault.trim()}`),
  )
  expect(faults).toEqual([])
})
