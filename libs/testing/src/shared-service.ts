import { type InternalParty, internalParties } from '@opsplane/contracts'
import type { Service } from '@opsplane/service'
import { testKeys } from './party-keys.js'
import { serveRun, startedForRun } from './run-process.js'
import { createClients, openAsOwner, startTestService, type TestService } from './test-service.js'

/** A service shared by test files: each has its own workspace in it and sees nothing else. */
export interface SharedService
  extends Pick<TestService, 'name' | 'url' | 'natsPrefix' | 'sql' | 'as' | 'asService' | 'headers'> {
  /** Releases the resources of this test file. The service itself ends with the run. */
  stop(): Promise<void>
}

/** Connection data a test file needs. */
interface HandOver {
  url: string
  natsPrefix: string
  adminUrl: string
  schema: string
  privateKeys: Record<InternalParty, string>
}

/** Starts the service for the test files of the run, in a separate program. */
export function serveTestService({ schema, ...service }: Service): Promise<void> {
  return serveRun(async () => {
    const { url, natsPrefix, adminUrl, stop } = await startTestService({ schema, ...service })
    const privateKeys = Object.fromEntries(
      internalParties.map((party) => [party, testKeys(party).privateKey]),
    ) as Record<InternalParty, string>
    const handOver: HandOver = { url, natsPrefix, adminUrl, schema, privateKeys }
    return { handOver: JSON.stringify(handOver), stop }
  })
}

/** Joins the run's service, which `program` serves; the first test file to join starts it. */
export async function joinTestService(name: string, program: string): Promise<SharedService> {
  const handOver = await startedForRun(name, program)
  const { url, natsPrefix, adminUrl, schema, privateKeys } = JSON.parse(handOver) as HandOver
  const sql = openAsOwner(adminUrl, schema)
  return {
    ...createClients({ name, url, privateKeyOf: (party) => privateKeys[party] }),
    natsPrefix,
    sql,
    stop: () => sql.end({ timeout: 1 }),
  }
}
