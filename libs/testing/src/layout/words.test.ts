import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from '@jest/globals'
import { exportedNameFaults, pathFault, wordsOfText } from './words.js'

const root = fileURLToPath(new URL('../../../../', import.meta.url))
const folders = [
  ...[
    'bench',
    'cli',
    'client',
    'console',
    'deploy',
    'docs',
    'helm',
    'libs',
    'services',
    'test-e2e',
    '.github',
  ],
]
const documents = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md']
/** Decision records keep their original text. */
const skipped = /(?:^|\/)(?:node_modules|dist|bundle|history)(?:\/|$)|\/layout\/words(?:\.test)?\.ts$/

/** Words a file needs because they are part of the wire format, the storage or another system. */
const exceptions: Record<string, { words: string[]; because: string }> = {
  'deploy/local/src/backup/load.ts': { words: ['beside'], because: 'a field of the manifest of a backup' },
  'deploy/local/src/backup/manifest.ts': {
    words: ['beside'],
    because: 'a field of the manifest of a backup',
  },
  'deploy/local/src/backup/save.ts': { words: ['beside'], because: 'a field of the manifest of a backup' },
  'libs/contracts/src/itsm/changes.ts': { words: ['HoldChange'], because: 'the action `hold`' },
  'libs/contracts/src/itsm/incident-values.ts': { words: ['HoldReason'], because: 'the field `holdReason`' },
  'libs/postgres/src/embedded-user.ts': { words: ['nobody'], because: 'the user of Unix' },
  'libs/sandbox/src/child/known-functions.ts': { words: ['sift'], because: 'a function of JSONata' },
  'libs/sandbox/src/pool/pool.test.ts': { words: ['nobody'], because: 'the user of Unix' },
  'libs/sandbox/src/pool/program.ts': { words: ['nobody'], because: 'the user of Unix' },
  'libs/sandbox/src/pool/start-attempts.ts': { words: ['nobody'], because: 'the user of Unix' },
  'services/dispatcher/src/delivery/send/sign.test.ts': {
    words: ['everybody'],
    because: 'a published vector of a signature',
  },
  'services/itsm/src/incident/hold-reason.ts': {
    words: ['checkHoldReason', 'hold'],
    because: 'the field `holdReason`',
  },
  'services/sdk/packs/builtin/src/escalate-stale-incidents.ts': {
    words: ['graver'],
    because: 'the content of a released pack, which its integrity covers',
  },
  'services/workflows/src/engine/scope-needs.ts': { words: ['sift'], because: 'a function of JSONata' },
}

function filesBelow(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`
    if (skipped.test(path)) return []
    if (entry.isDirectory()) return filesBelow(path)
    return /\.(?:ts|tsx|mjs|md|ya?ml|sh)$/.test(path) ? [path] : []
  })
}

const files = [...documents, ...folders.flatMap(filesBelow)]

/** Words for which docs/glossary.md has another term, as `path:line: word`. */
function faultsIn(path: string): string[] {
  const source = readFileSync(join(root, path), 'utf8')
  const isSource = /\.tsx?$/.test(path)
  const allowed = exceptions[path]?.words ?? []
  const inPath = isSource ? pathFault(path) : undefined
  return [
    ...wordsOfText(source),
    ...(isSource ? exportedNameFaults(source) : []),
    ...(inPath === undefined ? [] : [{ line: 0, word: inPath }]),
  ].flatMap(({ line, word }) =>
    allowed.includes(word.replace(/:.*/, '')) ? [] : [`${path}:${line}: ${word}`],
  )
}

test('names, files and texts use the terms of docs/glossary.md', () => {
  expect(files.length).toBeGreaterThan(3_000)
  expect(files.flatMap(faultsIn)).toEqual([])
})

test.each(Object.entries(exceptions))('%s still needs its exception', (path, { words }) => {
  const source = `${path}\n${readFileSync(join(root, path), 'utf8')}`
  expect(words.filter((word) => !new RegExp(word, 'i').test(source))).toEqual([])
})

test('household words, clauses and participles are reported', () => {
  expect(wordsOfText('// Whoever asks\n// is told').map(({ line, word }) => `${line} ${word}`)).toEqual([
    '1 whoever',
    '2 told',
  ])
  const names = `export const held = 1
export function mostRows() {}
export const unlessSeen = 1
export function headersOf() {}
export type HeadersOf = string
export function parseHeaders() {}`
  expect(exportedNameFaults(names).map(({ line }) => line)).toEqual([1, 2, 3, 4])
  expect(
    ['libs/nats/src/sift.ts', 'services/settings/src/told/a.ts', 'libs/http/src/put.ts'].map(pathFault),
  ).toEqual(['sift', 'told', 'put'])
})
