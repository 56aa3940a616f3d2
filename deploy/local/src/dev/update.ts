import { bundlePrograms, findService } from '@opsplane/bundler'
import { compile } from '@opsplane/bundler/compile'
import { type ServiceName, serviceNames } from '@opsplane/contracts'
import type { ServiceProcess } from '../supervisor.js'

/** Number of log lines shown for a service that does not start. */
const shownLines = 15

/**
 * Compiles changed sources and restarts the services whose bundles change; they finish their current work first, as
 * when a replica is replaced. Prints what was done, and errors in the sources or of a service.
 */
export async function update(
  services: Record<ServiceName, ServiceProcess>,
  print: (text: string) => void,
): Promise<void> {
  const startedAt = performance.now()
  const seconds = () => `${((performance.now() - startedAt) / 1000).toFixed(1)} s`
  try {
    const { compiled, removed } = await compile()
    const made = new Set((await bundlePrograms('services')).map(findService))
    const affected = serviceNames.filter((name) => made.has(name))
    if (compiled.length === 0 && removed === 0 && affected.length === 0) return
    const compiledLabel = compiled.length === 1 ? compiled[0] : `${compiled.length} files`
    if (affected.length === 0) return print(`${compiledLabel}: compiled, in no service (${seconds()})`)
    const started = await Promise.all(affected.map((name) => restart(services[name], print)))
    const running = affected.filter((_, at) => started[at])
    if (running.length > 0) print(`${compiledLabel}: ${running.join(', ')} restarted (${seconds()})`)
  } catch (error) {
    print(`${messageOf(error)}\nServices go on as they were; correct this, and what is saved is tried again.`)
  }
}

async function restart(service: ServiceProcess, print: (text: string) => void): Promise<boolean> {
  await service.stop()
  try {
    await service.start()
    return true
  } catch (error) {
    print(`${service.name} does not start: ${messageOf(error)}\n${service.logTail(shownLines)}`)
    return false
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
