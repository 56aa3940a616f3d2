import { delay, type Logger, retryDelayMs } from '@opsplane/runtime'

/** A running server of the local run. */
export interface StartedServer {
  readonly url: string
  readonly port: number
  /** Reason the server ended; never rejects. */
  readonly exited: Promise<string>
  stop(): Promise<void>
}

export interface KeptServerOptions<Server extends StartedServer> {
  name: string
  /** Called with the port of the server that ended, so that clients find the next one at the same port. */
  start(port?: number): Promise<Server>
  log: Logger
  /** Prints to the terminal. */
  tell(text: string): void
}

const retryTiming = { strategy: 'exponential', baseMs: 250, maxMs: 10_000 } as const

/**
 * Starts a server, and restarts it whenever it ends without having been stopped, for example killed for its memory
 * use, or because the disk was full. Otherwise every service would answer 503 until the server is restarted by hand.
 */
export async function keepServer<Server extends StartedServer>(
  options: KeptServerOptions<Server>,
): Promise<{ url: string; stop(): Promise<void> }> {
  const { name, start, log, tell } = options
  const stopping = new AbortController()
  const first = await start()
  let current: Server = first

  const startAgain = async (): Promise<Server | undefined> => {
    for (let attempt = 1; !stopping.signal.aborted; attempt++) {
      try {
        return await start(first.port)
      } catch (error) {
        const waitMs = retryDelayMs({ attempt, ...retryTiming })
        log.error({ err: error, attempt, waitMs }, `${name} could not be started again`)
        if (attempt === 1) tell(`${name} could not be started again; the log says why. Trying on.`)
        await delay(waitMs, stopping.signal)
      }
    }
    return undefined
  }
  const keep = async () => {
    for (;;) {
      const outcome = await current.exited
      if (stopping.signal.aborted) return
      log.error({ outcome }, `${name} ended, and is started again`)
      tell(`${name} ended (${outcome}). Starting it again…`)
      const next = await startAgain()
      if (!next) return
      current = next
      // `stop` ends this server.
      if (stopping.signal.aborted) return
      log.info({}, `${name} runs again`)
      tell(`${name} runs again.`)
    }
  }
  const kept = keep()
  return {
    url: first.url,
    async stop() {
      stopping.abort()
      await current.stop()
      await kept
      // Ends a server that was being started meanwhile.
      await current.stop()
    },
  }
}
