import { join } from 'node:path'
import type { RestartableServer } from '@opsplane/local'
import { type EmbeddedNats, startEmbeddedNats } from '@opsplane/nats/embedded'
import { freePort } from '@opsplane/runtime/server-process'

export interface NatsServers {
  /** URLs of all servers, separated by commas. */
  url: string
  servers: readonly RestartableServer[]
  stop(): Promise<void>
}

/** Starts `count` NATS servers below a folder; more than one form a cluster. */
export async function startNatsServers(
  folder: string,
  count: number,
  authorization: () => string,
): Promise<NatsServers> {
  const ports: number[] = []
  const routes: number[] = []
  for (let n = 0; n < count; n++) {
    ports.push(await freePort())
    routes.push(await freePort())
  }
  const start = (n: number) =>
    startEmbeddedNats({
      storeDir: join(folder, `nats-${n}`),
      port: ports[n],
      authorization,
      // A fixed name: the other servers use it to identify the copies the server has.
      name: `nats-${n}`,
      settings: count > 1 ? cluster(routes, n) : [],
    })
  const servers = await Promise.all(
    ports.map(async (_, n): Promise<RestartableServer> => {
      let current: EmbeddedNats = await start(n)
      return {
        pid: () => current.pid,
        start: async () => {
          current = await start(n)
        },
        stop: () => current.stop(),
        kill: async () => {
          process.kill(current.pid, 'SIGKILL')
          await current.exited
        },
      }
    }),
  )
  return {
    url: ports.map((port) => `nats://127.0.0.1:${port}`).join(','),
    servers,
    stop: async () => void (await Promise.all(servers.map((server) => server.stop()))),
  }
}

const cluster = (routes: readonly number[], n: number) => [
  'cluster {',
  '  name: opsplane',
  `  listen: "127.0.0.1:${routes[n]}"`,
  `  routes: ${JSON.stringify(routes.map((route) => `nats-route://127.0.0.1:${route}`))}`,
  // Clients receive the URLs of all servers.
  '  no_advertise: true',
  '}',
]
