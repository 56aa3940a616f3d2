import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { freePort } from '@opsplane/runtime/server-process'
import { startTestService, type TestService, waitFor } from '@opsplane/testing'
import { analytics } from './service.js'

export interface AnalyticsProcess {
  service: TestService
  /** Kills the process immediately. */
  kill(): Promise<void>
  /** Starts the process again; resolves once it is ready. */
  start(): Promise<void>
}

/** Runs the service in a separate process, which can be killed. */
export async function startAnalyticsProcess(env: Record<string, string>): Promise<AnalyticsProcess> {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  let variables: Record<string, string | undefined> = {}
  let end: (signal: NodeJS.Signals) => Promise<unknown> = async () => {}
  const start = async () => {
    const child = spawn(process.execPath, [fileURLToPath(new URL('../bundle/main.cjs', import.meta.url))], {
      env: { ...variables, PORT: String(port) },
      stdio: 'ignore',
    })
    const exited = once(child, 'exit')
    end = async (signal) => {
      child.kill(signal)
      await exited
    }
    await waitFor(() => fetch(`${url}/readyz`).then(({ ok }) => ok))
  }
  const service = await startTestService(analytics, {
    env,
    async start(given) {
      variables = given
      await start()
      return { name: 'analytics', port, url, stop: async () => void (await end('SIGTERM')) }
    },
  })
  return { service, start, kill: async () => void (await end('SIGKILL')) }
}
