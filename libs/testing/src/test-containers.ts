import { existsSync } from 'node:fs'
import { request } from 'node:http'
import { type TestServer, UNSAFE_BUT_FAST } from './test-servers.js'

const SOCKET = '/var/run/docker.sock'
const PING_TIMEOUT_MS = 2_000
const NATS_PORT = 4222
const POSTGRES_PORT = 5432

/** Whether a Docker daemon answers. Checked directly, because the client library takes seconds to report a missing one. */
export function dockerAnswers(): Promise<boolean> {
  // A remote daemon was configured on purpose.
  if (process.env.DOCKER_HOST) return Promise.resolve(true)
  if (!existsSync(SOCKET)) return Promise.resolve(false)
  return new Promise((done) => {
    const ping = request({ socketPath: SOCKET, path: '/_ping', timeout: PING_TIMEOUT_MS }, (response) => {
      response.resume()
      done(response.statusCode === 200)
    })
    ping.once('error', () => done(false))
    ping.once('timeout', () => ping.destroy(new Error('Docker does not answer')))
    ping.end()
  })
}

/** Starts the Postgres of a test run in a container. */
export async function containerPostgres(): Promise<TestServer> {
  const { GenericContainer, Wait } = await import('testcontainers')
  const settings = ['max_connections=200', ...UNSAFE_BUT_FAST].flatMap((setting) => ['-c', setting])
  const container = await new GenericContainer('postgres:17-alpine')
    .withEnvironment({
      POSTGRES_PASSWORD: 'test',
      POSTGRES_INITDB_ARGS: '--locale=C --lc-ctype=C.UTF-8 --encoding=UTF8',
    })
    .withCommand(['postgres', ...settings])
    .withExposedPorts(POSTGRES_PORT)
    // The first message is from the server that runs the image's own set-up.
    .withWaitStrategy(Wait.forLogMessage('database system is ready to accept connections', 2))
    .start()
  return {
    url: `postgres://postgres:test@${container.getHost()}:${container.getMappedPort(POSTGRES_PORT)}/postgres`,
    stop: async () => void (await container.stop()),
  }
}

/** Starts the NATS of a test run in a container. */
export async function containerNats(): Promise<TestServer> {
  const { GenericContainer, Wait } = await import('testcontainers')
  const container = await new GenericContainer('nats:2-alpine')
    .withCopyContentToContainer([
      { content: 'max_payload: 8388608\njetstream { store_dir: /data }\n', target: '/etc/nats/test.conf' },
    ])
    .withCommand(['--config', '/etc/nats/test.conf'])
    .withExposedPorts(NATS_PORT)
    .withWaitStrategy(Wait.forLogMessage('Server is ready'))
    .start()
  return {
    url: `nats://${container.getHost()}:${container.getMappedPort(NATS_PORT)}`,
    stop: async () => void (await container.stop()),
  }
}
