import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'

const patienceMs = 10_000

/** Folder of this bench that the services write their delays to. */
const folder = join(tmpdir(), `opsplane-bench-loops-${process.pid}`)

/** Environment of services whose event loop delays can be read. */
export const observedLoops = {
  LOOP_DELAYS: folder,
  NODE_OPTIONS: `--import=${new URL('loop-delay.js', import.meta.url).href}`,
}

/** The longest turns of an event loop: by CPU time, and by wall-clock time. These may be two different turns. */
export const Slice = z.object({ cpuMs: z.number(), wallMs: z.number() })
export type Slice = z.infer<typeof Slice>

/** The longest turns of each process's event loop since the previous call, by process. */
export async function longestSlices(
  processes: Readonly<Record<string, { pid(): number | undefined }>>,
): Promise<Record<string, Slice>> {
  mkdirSync(folder, { recursive: true })
  const pendingSlices = Object.entries(processes).map(async ([name, { pid }]) => {
    const id = pid()
    if (id === undefined) throw new Error(`${name} does not run`)
    const file = join(folder, String(id))
    rmSync(file, { force: true })
    process.kill(id, 'SIGUSR2')
    for (let waitedMs = 0; !existsSync(file); waitedMs += 20) {
      if (waitedMs > patienceMs) throw new Error(`${name} does not report the blocks of its event loop`)
      await delay(20)
    }
    return [name, Slice.parse(JSON.parse(readFileSync(file, 'utf8')))] as const
  })
  const slices = Object.fromEntries(await Promise.all(pendingSlices))
  rmSync(folder, { recursive: true })
  return slices
}
