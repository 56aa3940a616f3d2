import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { codeLines, isCounted, packageName } from './code-lines.js'

const usage = `Counts the lines of code of each package, without blank lines, comments, tests, fixtures, generated sources and the console.

  npm run size                     this checkout
  npm run size -- --since <commit> compared with a commit
  --json                           as JSON
`
const root = fileURLToPath(new URL('../../../../', import.meta.url))
const git = (...args: string[]) =>
  execFileSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 28 })

const checkout = (): Map<string, number> =>
  count(git('ls-files').split('\n'), (path) => readFileSync(`${root}${path}`, 'utf8'))

const commit = (name: string): Map<string, number> =>
  count(git('ls-tree', '-r', '--name-only', name).split('\n'), (path) => git('show', `${name}:${path}`))

function count(paths: readonly string[], read: (path: string) => string): Map<string, number> {
  const lines = new Map<string, number>()
  for (const path of paths.filter(isCounted)) {
    const name = packageName(path)
    lines.set(name, (lines.get(name) ?? 0) + codeLines(read(path)))
  }
  return lines
}

const sum = (lines: Map<string, number>) => [...lines.values()].reduce((total, each) => total + each, 0)

const { values } = parseArgs({
  options: { since: { type: 'string' }, json: { type: 'boolean' }, help: { type: 'boolean' } },
})
const print = (text: string) => process.stdout.write(`${text}\n`)
if (values.help) print(usage)
else {
  const now = checkout()
  const before = values.since === undefined ? undefined : commit(values.since)
  const names = [...new Set([...now.keys(), ...(before?.keys() ?? [])])].sort()
  const rows = [
    ...names.map((name) => ({ name, lines: now.get(name) ?? 0, before: before && (before.get(name) ?? 0) })),
    { name: 'total', lines: sum(now), before: before && sum(before) },
  ]
  print(values.json ? JSON.stringify(rows) : rows.map(formatRow).join('\n'))
}

function formatRow({
  name,
  lines,
  before,
}: {
  name: string
  lines: number
  before: number | undefined
}): string {
  const row = `${name.padEnd(28)} ${String(lines).padStart(7)}`
  if (before === undefined) return row
  const change = before === 0 ? 'new' : `${(((lines - before) / before) * 100).toFixed(1)} %`
  return `${row}  ${String(before).padStart(7)}  ${change}`
}
