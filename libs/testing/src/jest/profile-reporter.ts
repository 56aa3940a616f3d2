import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, relative } from 'node:path'
import { type FileProfile, plus, type Spent } from './profile.js'

/** Jest's result of a test file, reduced to the fields used here. */
interface FileResult {
  testFilePath: string
  profile?: FileProfile
}

export const profileFile = '.opsplane/test-profile.json'
const dearest = 10
const none: Spent = { wallMs: 0, cpuMs: 0 }

/** Prints where the time of a run was spent: the most expensive files, fixtures, and the share of set-up. */
export default class ProfileReporter {
  readonly #files = new Map<string, FileProfile>()
  readonly #begun = performance.now()

  onTestFileResult = (_test: unknown, result: FileResult) => {
    if (result.profile) this.#files.set(relative(process.cwd(), result.testFilePath), result.profile)
  }

  onRunComplete = () => {
    const files = [...this.#files].map(([file, profile]) => ({ file, ...profile }))
    if (files.length < 2) return
    const run = { wallMs: performance.now() - this.#begun, cpuMs: cpuOfRun() }
    mkdirSync(dirname(profileFile), { recursive: true })
    writeFileSync(profileFile, JSON.stringify({ run, files }, null, 1))
    process.stdout.write(`\n${describeRun(run, files)}\n`)
  }
}

type Profiled = FileProfile & { file: string }

/** A textual summary, with seconds of wall time and of CPU. */
export function describeRun(run: Spent, files: readonly Profiled[]): string {
  const sum = (part: 'total' | 'imports' | 'setUp' | 'tearDown') =>
    files.reduce((spent, file) => plus(spent, file[part]), none)
  const fixtures = new Map<string, Spent & { count: number }>()
  for (const [name, spent] of files.flatMap((file) => Object.entries(file.fixtures))) {
    const so = fixtures.get(name) ?? { ...none, count: 0 }
    fixtures.set(name, { ...plus(so, spent), count: so.count + spent.count })
  }
  const total = sum('total')
  const share = (part: Spent) => `${Math.round((100 * part.wallMs) / total.wallMs)} %`
  const lines = [
    `Where the time goes, in seconds of wall time and of CPU (all files: ${profileFile})`,
    line('the run, with servers and processes', run),
    line(`${files.length} files, several at a time`, total),
    ...(['imports', 'setUp', 'tearDown'] as const).map((part) =>
      line(`  of that ${part} (${share(sum(part))})`, sum(part)),
    ),
    'The dearest files',
    ...top(files.map(({ file, total: spent }) => [file, spent])),
    'The dearest fixtures',
    ...top([...fixtures].map(([name, { count, ...spent }]) => [`${count} × ${name}`, spent])),
  ]
  return lines.join('\n')
}

const top = (spent: readonly (readonly [string, Spent])[]) =>
  spent
    .toSorted(([, a], [, b]) => b.cpuMs + b.wallMs - a.cpuMs - a.wallMs)
    .slice(0, dearest)
    .map(([name, each]) => line(`  ${name}`, each))

const seconds = (ms: number) => (ms / 1000).toFixed(1).padStart(8)
const line = (name: string, { wallMs, cpuMs }: Spent) => `${seconds(wallMs)} ${seconds(cpuMs)}  ${name}`

/**
 * CPU time of all descendant processes (Postgres has a separate environment), of processes with this run's environment
 * (which may outlive a worker), and of their ended children; 0 without /proc.
 */
function cpuOfRun(): number {
  const mark = `TEST_RUN_ID=${process.env.TEST_RUN_ID}\0`
  const stats = new Map(pids().map((pid) => [pid, statOf(pid)]))
  const isBelow = (pid: string): boolean => {
    if (pid === String(process.pid)) return true
    const parent = stats.get(pid)?.[1]
    return parent !== undefined && isBelow(parent)
  }
  let ticks = 0
  for (const [pid, fields] of stats) {
    if (!isBelow(pid) && !environmentOf(pid).includes(mark)) continue
    ticks += fields.slice(11, 15).reduce((sum, each) => sum + Number(each), 0)
  }
  return ticks * 10
}

/** Empty if the process has ended or belongs to another user. */
function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
const environmentOf = (pid: string) => read(`/proc/${pid}/environ`)

/** The fields after the process name: state, parent and so on. */
function statOf(pid: string): string[] {
  const stat = read(`/proc/${pid}/stat`)
  return stat === '' ? [] : stat.slice(stat.lastIndexOf(')') + 2).split(' ')
}

function pids(): string[] {
  try {
    return readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  } catch {
    return []
  }
}
