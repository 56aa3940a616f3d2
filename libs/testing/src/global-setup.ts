import { randomBytes } from 'node:crypto'
import { tmpdir } from 'node:os'
import { onTeardown } from './run-cleanup.js'
import { endRunProcesses } from './run-process.js'
import { isLongTier } from './runs/long-tier.js'
import { containerNats, containerPostgres, dockerAnswers } from './test-containers.js'
import { dropRunDatabases } from './test-env.js'
import {
  createStateDirectory,
  embeddedNats,
  embeddedPostgres,
  removeDirectory,
  serverDataParent,
  type TestServer,
} from './test-servers.js'

/**
 * Starts one Postgres and one NATS for the whole run: in containers if Docker answers, otherwise from the embedded
 * binaries. TEST_DATABASE_URL and TEST_NATS_URL name servers to use instead.
 */
export default async function setUp(): Promise<void> {
  process.env.TEST_RUN_ID = randomBytes(4).toString('hex')
  process.env.TEST_RUN_PID = String(process.pid)
  // The long tier writes more data than fits in memory.
  const directory = createStateDirectory(isLongTier() ? tmpdir() : serverDataParent())
  onTeardown(() => removeDirectory(directory))
  // Temporary files of the tests are created there too and removed with it, including the servers of end-to-end tests.
  process.env.TMPDIR = directory
  const docker = await dockerAnswers()
  await Promise.all([
    provide('TEST_NATS_URL', docker && containerNats, () => embeddedNats(directory)),
    providePostgres(docker, directory),
  ])
  // Runs before the servers stop, because these processes may use them.
  onTeardown(() => endRunProcesses(directory))
}

async function providePostgres(docker: boolean, directory: string): Promise<void> {
  const hasExternalDatabase = process.env.TEST_DATABASE_URL !== undefined
  await provide('TEST_DATABASE_URL', docker && containerPostgres, () => embeddedPostgres(directory))
  // A server started by this run is removed with all its databases.
  if (hasExternalDatabase) onTeardown(dropRunDatabases)
}

async function provide(
  variable: 'TEST_DATABASE_URL' | 'TEST_NATS_URL',
  container: (() => Promise<TestServer>) | false,
  embedded: () => Promise<TestServer>,
): Promise<void> {
  if (process.env[variable]) return
  const server = await (container ? container().catch(explain(variable, embedded)) : embedded())
  onTeardown(() => server.stop())
  // Workers inherit the environment of this process.
  process.env[variable] = server.url
}

// A daemon that answers may still be unable to pull the image.
function explain(variable: string, embedded: () => Promise<TestServer>) {
  return (error: unknown) => {
    process.stderr.write(`No container for ${variable} (${String(error)}); using the embedded server\n`)
    return embedded()
  }
}
