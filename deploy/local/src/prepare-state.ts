import { startEmbeddedPostgres } from '@opsplane/postgres/embedded'
import { freePort } from '@opsplane/runtime/server-process'
import { provisionAll } from './platform.js'
import type { LocalState } from './state.js'

/** Creates and migrates the databases of a state. Nothing runs afterwards, so the folder can be copied. */
export async function prepareState(state: LocalState): Promise<void> {
  const { databasePasswords, installation } = state.secrets()
  const postgres = await startEmbeddedPostgres({ dataDir: state.postgresDir, port: await freePort() })
  try {
    await provisionAll(postgres.url, databasePasswords, installation)
  } finally {
    await postgres.stop()
  }
}
