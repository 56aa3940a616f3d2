import {
  addDataKeyGeneration,
  connect,
  countDataKeys,
  type Drizzle,
  MasterKeyError,
  rewrapDataKeys,
  schemasWithDataKeys,
  verifyDataKeys,
} from '@opsplane/postgres'
import { createSealer, masterKeyId, type Sealer } from '@opsplane/runtime'
import { explainDatabaseError, OpsError } from './ops-target.js'

/** Base64, in the format of OPSPLANE_MASTER_KEY and OPSPLANE_PREVIOUS_MASTER_KEYS. */
export interface MasterKeys {
  present: string
  previous: readonly string[]
}

export interface KeyTask {
  /** URL with a role that owns the services' tables. */
  databaseUrl: string
  /** Receives progress, in whole lines. */
  say?(line: string): void
}

/** Data keys of one service that are wrapped by one master key. */
export interface DataKeysOfService {
  service: string
  keyId: string
  count: number
}

export interface RewrappedKeys {
  service: string
  /** The master key that wraps them now; in a dry run, the one that would. */
  keyId: string
  /** Data keys of the service. */
  dataKeys: number
  /** Data keys wrapped by another master key. */
  outdated: number
  rewrapped: number
}

/** Number of data keys of each service by the master key that wraps them. Needs no key. Throws OpsError. */
export async function masterKeysInUse(task: KeyTask): Promise<DataKeysOfService[]> {
  const counts = await eachService(task, async (service, db) =>
    (await countDataKeys(db)).map((keyCount) => ({ service, ...keyCount })),
  )
  return counts.flat()
}

/**
 * Rewraps every data key of every service with the present master key, while the services run. Unwraps all of them
 * before the first is changed. Can be repeated after an interruption at any point. Throws OpsError.
 */
export async function rewrapAllDataKeys(
  task: KeyTask & { keys: MasterKeys; dryRun?: boolean },
): Promise<RewrappedKeys[]> {
  const sealer = sealerOf(task.keys)
  await eachService(task, (_service, db) => verifyDataKeys(db, sealer), 'Nothing was changed.')
  return eachService(task, async (service, db) => {
    const counts = await countDataKeys(db)
    const dataKeys = counts.reduce((sum, { count }) => sum + count, 0)
    const present = counts.find(({ keyId }) => keyId === sealer.keyId)?.count ?? 0
    const found = { service, keyId: sealer.keyId, dataKeys, outdated: dataKeys - present }
    if (task.dryRun) return { ...found, rewrapped: 0 }
    const onBatch = (done: number) => task.say?.(`${service}: ${done} of ${found.outdated} data keys`)
    return { ...found, ...(await rewrapDataKeys(db, sealer, { onBatch })) }
  })
}

/** Creates a new data key for a workspace in every service that has encrypted data for it. Throws OpsError. */
export async function rotateDataKey(
  task: KeyTask & { keys: MasterKeys; workspaceId: string },
): Promise<{ service: string; generation: number }[]> {
  const { workspaceId } = task
  const sealer = sealerOf(task.keys)
  const made = await eachService(task, async (service, db) => {
    const added = await addDataKeyGeneration(db, sealer, workspaceId)
    return added ? [{ service, ...added }] : []
  })
  if (made.flat().length > 0) return made.flat()
  throw new OpsError('refused', `${workspaceId} has no data key yet: nothing of it is sealed.`)
}

/** Ids of the keys, as used in data keys, logs and counts. */
export function toKeyIds(keys: MasterKeys): { keyId: string; previousKeyIds: string[] } {
  const { keyId } = sealerOf(keys)
  return { keyId, previousKeyIds: keys.previous.map(masterKeyId) }
}

function sealerOf({ present, previous }: MasterKeys): Sealer {
  try {
    return createSealer(present, previous)
  } catch (error) {
    throw new OpsError('unnamed', error instanceof Error ? `Wrong key: ${error.message}.` : String(error))
  }
}

async function eachService<T>(
  { databaseUrl }: KeyTask,
  work: (service: string, db: Drizzle) => Promise<T>,
  whenRefused = '',
): Promise<T[]> {
  const within = async <R>(schema: string, job: (db: Drizzle) => Promise<R>): Promise<R> => {
    const database = connect(databaseUrl, { schema, max: 1, applicationName: 'opsplane-keys' })
    try {
      return await job(database.db)
    } finally {
      await database.close()
    }
  }
  try {
    const schemas = await within('public', schemasWithDataKeys)
    if (schemas.length === 0) throw new OpsError('refused', 'No service keeps data keys in this database.')
    const results: T[] = []
    for (const schema of schemas)
      results.push(await within(schema, (db) => work(schema.replaceAll('_', '-'), db)))
    return results
  } catch (error) {
    if (error instanceof MasterKeyError)
      throw new OpsError('refused', `${error.message} ${whenRefused}`.trimEnd())
    // The query builder wraps the Postgres error.
    const databaseError = error instanceof Error && error.cause instanceof Error ? error.cause : error
    throw explainDatabaseError(databaseError, databaseUrl)
  }
}

export { commaList } from '@opsplane/runtime'
