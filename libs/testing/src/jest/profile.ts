import { readFileSync } from 'node:fs'

/** Milliseconds of wall time, and of CPU time of this process and its ended children. */
export interface Spent {
  wallMs: number
  cpuMs: number
}

/** Time of a test file by phase. */
export interface FileProfile {
  total: Spent
  /** Loading its modules. */
  imports: Spent
  /** Its `beforeAll` hooks. */
  setUp: Spent
  /** Its `afterAll` hooks. */
  tearDown: Spent
  /** Fixtures by name, with how often each was started. */
  fixtures: Record<string, Spent & { count: number }>
}

/** Milliseconds per clock tick in `/proc`, the same on every Linux. */
const msPerTick = 10
const [firstOfChildren, afterChildren] = [13, 15]

export function spentSoFar(): Spent {
  const { user, system } = process.cpuUsage()
  return { wallMs: performance.now(), cpuMs: (user + system) / 1000 + cpuOfEndedChildren() }
}

export function spentSince(start: Spent): Spent {
  const now = spentSoFar()
  return { wallMs: now.wallMs - start.wallMs, cpuMs: now.cpuMs - start.cpuMs }
}

/** Only Linux exposes this in a readable form. */
function cpuOfEndedChildren(): number {
  try {
    const stat = readFileSync('/proc/self/stat', 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return (
      fields.slice(firstOfChildren, afterChildren).reduce((sum, ticks) => sum + Number(ticks), 0) * msPerTick
    )
  } catch {
    return 0
  }
}

const none = (): Spent => ({ wallMs: 0, cpuMs: 0 })
let current: FileProfile | undefined

/** Starts the profile of a test file; later measurements are added to it. */
export function beginProfile(): FileProfile {
  current = { total: none(), imports: none(), setUp: none(), tearDown: none(), fixtures: {} }
  return current
}

/** Measures the start of a fixture as a part of the running test file. */
export async function measureFixture<Result>(fixture: string, start: () => Promise<Result>): Promise<Result> {
  const profile = current
  const before = spentSoFar()
  try {
    return await start()
  } finally {
    if (profile) {
      const so = profile.fixtures[fixture] ?? { ...none(), count: 0 }
      profile.fixtures[fixture] = { ...plus(so, spentSince(before)), count: so.count + 1 }
    }
  }
}

export const plus = (one: Spent, other: Spent): Spent => ({
  wallMs: one.wallMs + other.wallMs,
  cpuMs: one.cpuMs + other.cpuMs,
})

/** An event of jest-circus, reduced to the fields used here. */
interface CircusEvent {
  name: string
  hook?: { type: string }
}

/** Adds the phases of a file's run, measured by their start and end events. */
export function followRun(profile: FileProfile): (event: CircusEvent) => void {
  const begun = spentSoFar()
  let hookBegun = begun
  return ({ name, hook }) => {
    if (name === 'run_start') profile.imports = spentSince(begun)
    if (name === 'hook_start') hookBegun = spentSoFar()
    if (name !== 'hook_success' && name !== 'hook_failure') return
    if (hook?.type === 'beforeAll') profile.setUp = plus(profile.setUp, spentSince(hookBegun))
    if (hook?.type === 'afterAll') profile.tearDown = plus(profile.tearDown, spentSince(hookBegun))
  }
}
