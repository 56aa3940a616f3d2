import { readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { OpsError } from '../ops-target.js'

const name = /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ$/
const leftover = /^(\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ)\.(partial|removed)$/

/**
 * Path of a new backup in a folder of backups, named by the time, such as `2026-11-28T02-17-00Z`. Removes backups
 * that earlier runs left partially written or partially removed, so only one run is allowed at a time; a concurrent
 * one fails. Throws OpsError if the folder cannot be read.
 */
export async function nextBackup(folder: string, at: Date): Promise<string> {
  for (const entry of await entriesOf(folder)) if (leftover.test(entry)) await remove(folder, entry)
  return join(folder, `${at.toISOString().slice(0, 19).replaceAll(':', '-')}Z`)
}

/**
 * Removes the oldest backups beyond `keep`, and no entries with other names; returns the names of the removed
 * backups.
 */
export async function keepNewest(folder: string, keep: number): Promise<string[]> {
  const whole = (await entriesOf(folder)).filter((entry) => name.test(entry)).sort()
  const old = whole.slice(0, Math.max(0, whole.length - keep))
  for (const entry of old) await remove(folder, entry)
  return old
}

async function entriesOf(folder: string): Promise<string[]> {
  try {
    return await readdir(folder)
  } catch (error) {
    throw new OpsError('refused', `${folder} cannot be read (${(error as NodeJS.ErrnoException).code}).`)
  }
}

/**
 * Renames first: a partially removed backup is never mistaken for a complete one, and a concurrent run that still
 * writes there fails.
 */
async function remove(folder: string, entry: string): Promise<void> {
  const removed = join(folder, `${entry.replace(leftover, '$1')}.removed`)
  if (join(folder, entry) !== removed) {
    await rm(removed, { recursive: true, force: true })
    await rename(join(folder, entry), removed)
  }
  await rm(removed, { recursive: true, force: true })
}
