import { readFileSync } from 'node:fs'

/** Time in milliseconds: that passed, and that was computed by this process and by those of its children that have ended. */
export interface Spent {
  wallMs: number
  cpuMs: number
}

/** Where the time of a test file goes. */
export interface FileProfile {
  total: Spent
  /** Its modules are loaded. */
  imports: Spent
  /** Its `beforeAll` hooks. */
  setUp: Spent
  /** Its `afterAll` hooks. */
  tearDown: Spent
  /** What is started for tests, by name, with how often it was. */
  fixtures: Record<string, Spent & { count: number }>
}

/** Of one clock tick in `/proc`, on every Linux there is. */
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

/** Only Linux counts it where it can be read. */
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

/** From now on what is measured belongs to one test file. */
export function beginProfile(): FileProfile {
  current = { total: none(), imports: none(), setUp: none(), tearDown: none(), fixtures: {} }
  return current
}

/** Measures how something is started that tests use, as a part of the file that runs. */
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

/** An event of jest-circus; types say the parts that are used here. */
interface CircusEvent {
  name: string
  hook?: { type: string }
}

/** Adds what the events of a file's run mark the beginning and end of. */
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
