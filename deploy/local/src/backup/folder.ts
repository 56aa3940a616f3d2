import { createHash } from 'node:crypto'
import { createReadStream, existsSync } from 'node:fs'
import { mkdir, open, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { OpsError } from '../ops-target.js'
import { Manifest } from './manifest.js'

const manifestFile = 'manifest.json'
const digestFile = 'manifest.sha256'

/**
 * A backup that is being written: next to its final path, so that a partial one is never mistaken for a complete
 * one.
 */
export interface NewBackup {
  /** Path of a file of the backup, by its name in the manifest. */
  path(file: string): string
  /** Renames the finished backup to its final name. */
  finish(manifest: Manifest): Promise<void>
  /** Removes everything written. */
  discard(): Promise<void>
}

/** Begins a backup. Throws OpsError if the path exists already. Replaces a partial backup of an earlier run. */
export async function beginBackup(to: string, groups: readonly string[]): Promise<NewBackup> {
  const target = resolve(to)
  if (existsSync(target)) throw new OpsError('refused', `${target} is there already: name a new folder.`)
  const partial = `${target}.partial`
  await rm(partial, { recursive: true, force: true })
  try {
    for (const group of groups) await mkdir(join(partial, group), { recursive: true, mode: 0o700 })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new OpsError('refused', `${partial} cannot be made (${code}).`)
  }
  return {
    path: (file) => join(partial, file),
    async finish(manifest) {
      const text = `${JSON.stringify(manifest, null, 1)}\n`
      await writeFile(join(partial, manifestFile), text, { mode: 0o600, flush: true })
      await writeFile(join(partial, digestFile), `${sha256(text)}\n`, { mode: 0o600, flush: true })
      for (const folder of [...groups.map((group) => join(partial, group)), partial]) await syncFolder(folder)
      await rename(partial, target)
      await syncFolder(dirname(target))
    },
    discard: () => rm(partial, { recursive: true, force: true }),
  }
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path)
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

/** Throws OpsError if there is no manifest, the backup is incomplete, or the manifest was altered. */
export async function readManifest(from: string): Promise<Manifest> {
  const folder = resolve(from)
  const read = (name: string) =>
    readFile(join(folder, name), 'utf8').catch(() => {
      const half = folder.endsWith('.partial') ? ': the backup was broken off' : ''
      throw new OpsError('refused', `${folder} has no ${name}${half}. It is no whole backup.`)
    })
  const text = await read(manifestFile)
  if ((await read(digestFile)).trim() !== sha256(text))
    throw new OpsError('refused', `${join(folder, manifestFile)} was altered: its checksum does not fit.`)
  const parsed = Manifest.safeParse(JSON.parse(text))
  if (parsed.success) return parsed.data
  throw new OpsError('refused', `${folder} is a backup of another version of Opsplane, or of something else.`)
}

export interface Verified {
  files: number
  bytes: number
}

/**
 * Reads every file of a backup. Throws OpsError that names the first file that is missing, altered, or not part of
 * the backup.
 */
export async function verifyFiles(
  from: string,
  { files }: Manifest,
  onFile: (done: number) => void = () => {},
): Promise<Verified> {
  const folder = resolve(from)
  const known = new Set([manifestFile, digestFile, ...Object.keys(files)])
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    if (entry.isDirectory() || known.has(path.slice(folder.length + 1))) continue
    throw new OpsError('refused', `${path} does not belong to the backup.`)
  }
  let [bytes, done] = [0, 0]
  for (const [name, expected] of Object.entries(files)) {
    await verifyFile(join(folder, name), expected)
    bytes += expected.bytes
    onFile(++done)
  }
  return { files: done, bytes }
}

/** Throws OpsError if the file is missing or altered. */
export async function verifyFile(path: string, expected: { bytes: number; sha256: string }): Promise<void> {
  const hash = createHash('sha256')
  let bytes = 0
  try {
    for await (const chunk of createReadStream(path)) {
      hash.update(chunk)
      bytes += chunk.length
    }
  } catch (error) {
    throw new OpsError('refused', `${path} cannot be read (${(error as NodeJS.ErrnoException).code}).`)
  }
  if (bytes !== expected.bytes)
    throw new OpsError('refused', `${path} has ${bytes} bytes instead of ${expected.bytes}.`)
  if (hash.digest('hex') !== expected.sha256)
    throw new OpsError('refused', `${path} was altered: its checksum does not fit.`)
}
