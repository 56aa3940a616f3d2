import { startEmbeddedPostgres } from '@opsplane/postgres/embedded'
import { freePort } from '@opsplane/runtime/server-process'
import { provisionAll } from './platform.js'
import type { LocalState } from './state.js'

/** Makes the databases of a state and migrates them. Nothing runs afterwards: a copy of the folder is a state as good. */
export async function prepareState(state: LocalState): Promise<void> {
  const { databasePasswords, installation } = state.secrets()
  const postgres = await startEmbeddedPostgres({ dataDir: state.postgresDir, port: await freePort() })
  try {
    await provisionAll(postgres.url, databasePasswords, installation)
  } finally {
    await postgres.stop()
  }
}
