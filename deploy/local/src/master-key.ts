import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type MasterKeys, rewrapAllDataKeys } from './ops-keys.js'
import { type LocalSecrets, newMasterKey } from './secrets.js'
import { type LocalState, openState } from './state.js'

/** The master keys of a local run; `undefined` if none was ever started from this folder. */
export function readMasterKeys(home: string): MasterKeys | undefined {
  if (!existsSync(join(home, 'secrets.json'))) return undefined
  const { masterKey, previousMasterKeys } = openState(home).secrets()
  return { present: masterKey, previous: previousMasterKeys }
}

/**
 * Generates a new master key and stores it together with the present one, in one step: the next start rewraps every
 * data key. Keeps a new key that is already waiting, so repeating this changes nothing.
 */
export function prepareMasterKey(home: string): MasterKeys {
  const state = openState(home)
  const secrets = state.secrets()
  const { masterKey, previousMasterKeys } = secrets
  if (previousMasterKeys.length > 0) return { present: masterKey, previous: previousMasterKeys }
  const keys = { present: newMasterKey(), previous: [masterKey] }
  state.saveSecrets({ ...secrets, masterKey: keys.present, previousMasterKeys: keys.previous })
  return keys
}

/**
 * Wraps every data key with the waiting master key, if there is one, and then deletes the key it replaces. Called at
 * the start, when the tables exist and no service runs. Returns the resulting secrets.
 */
export async function finishMasterKeyRotation(state: LocalState, databaseUrl: string): Promise<LocalSecrets> {
  const secrets = state.secrets()
  const { masterKey: present, previousMasterKeys: previous } = secrets
  if (previous.length === 0) return secrets
  await rewrapAllDataKeys({ databaseUrl, keys: { present, previous } })
  const finished = { ...secrets, previousMasterKeys: [] }
  state.saveSecrets(finished)
  return finished
}
