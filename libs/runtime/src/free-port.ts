import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

// Below the range of ephemeral ports: while a server restarts, an outgoing connection, even a client's attempt to
// reach that very server, could otherwise take its port.
const USUAL = { lowest: 12_000, highest: 32_000 }
const ATTEMPTS = 100
const RELEASE_MS = 3_000
const RETRY_MS = 50

let next: number | undefined

/**
 * A TCP port of 127.0.0.1 that is currently free: the wanted one, or any. Throws if the wanted one is taken.
 * Nothing reserves the port until it is used, so this process returns none twice. Programs that start together can
 * be kept apart by FREE_PORTS, such as `12000-14499`, which sets the range to search.
 */
export async function freePort(requestedPort?: number): Promise<number> {
  if (requestedPort !== undefined) return released(requestedPort)
  const { lowest, highest } = rangeOf(process.env.FREE_PORTS)
  next ??= randomInt(lowest, highest + 1)
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const port: number = next
    next = port >= highest ? lowest : port + 1
    if (await isFree(port)) return port
  }
  throw new Error(`No free port of 127.0.0.1 found between ${lowest} and ${highest}`)
}

function rangeOf(text: string | undefined): typeof USUAL {
  if (text === undefined) return USUAL
  const [, lowest, highest] = /^(\d+)-(\d+)$/.exec(text) ?? []
  if (!(Number(lowest) < Number(highest)))
    throw new Error(`FREE_PORTS is not two ports with a hyphen between them: ${text}`)
  return { lowest: Number(lowest), highest: Number(highest) }
}

// A server that was just killed releases its port with a short delay.
async function released(port: number): Promise<number> {
  const deadline = Date.now() + RELEASE_MS
  while (!(await isFree(port))) {
    if (Date.now() > deadline) {
      throw new Error(
        `Port ${port} of 127.0.0.1 is taken by another program. Stop that program or choose another port.`,
      )
    }
    await delay(RETRY_MS)
  }
  return port
}

async function isFree(port: number): Promise<boolean> {
  const probe = createServer().listen({ host: '127.0.0.1', port, exclusive: true })
  try {
    await once(probe, 'listening')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return false
    throw error
  }
  probe.close()
  await once(probe, 'close')
  return true
}
