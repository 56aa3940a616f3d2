/** A part that runs until a signal arrives. */
interface Running {
  stop(): Promise<void>
}

/** The first signal stops the platform cleanly; a second one stops waiting. */
export function stopOnSignal(print: (text: string) => void) {
  let platform: Running | undefined
  let stopping = false
  const stop = async (signal: string) => {
    if (stopping) process.exit(130)
    stopping = true
    print(`\n${signal}: finishing what is in flight…`)
    try {
      await platform?.stop()
      print('Stopped.')
      process.exit(0)
    } catch (error) {
      console.error(
        `Not everything stopped in order: ${String(error)}. The data is safe; the next start clears up.`,
      )
      process.exit(1)
    }
  }
  process.on('SIGINT', () => void stop('Ctrl-C'))
  process.on('SIGTERM', () => void stop('SIGTERM'))
  return {
    use: (running: Running) => {
      platform = running
    },
  }
}
