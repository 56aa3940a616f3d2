import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { freePort } from '@opsplane/runtime/server-process'
import { waitFor } from '@opsplane/testing'
import { type SdkFixture, startSdk } from './invoke.fixture.js'

export interface SdkProcess {
  world: SdkFixture
  pid(): number | undefined
  /** Kills the process, as if the machine had failed. */
  kill(): Promise<void>
  start(): Promise<void>
}

/** Runs the service in a separate process, which can be killed and restarted. */
export async function startSdkProcess(env: Record<string, string> = {}): Promise<SdkProcess> {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  let pid: number | undefined
  let variables: Record<string, string | undefined> = {}
  let end: (signal: NodeJS.Signals) => Promise<unknown> = async () => {}
  const start = async () => {
    const child = spawn(
      process.execPath,
      [fileURLToPath(new URL('../../bundle/main.cjs', import.meta.url))],
      {
        env: { ...process.env, ...variables, PORT: String(port) },
        stdio: 'ignore',
      },
    )
    pid = child.pid
    const exited = once(child, 'exit')
    end = async (signal) => {
      child.kill(signal)
      await exited
    }
    await waitFor(() => fetch(`${url}/readyz`).then(({ ok }) => ok), { message: 'the service' })
  }
  const world = await startSdk(env, {
    async start(given) {
      variables = given
      await start()
      return { name: 'sdk', port, url, stop: async () => void (await end('SIGTERM')) }
    },
  })
  return { world, start, pid: () => pid, kill: async () => void (await end('SIGKILL')) }
}
