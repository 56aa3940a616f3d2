import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'
import { type AvailablePack, manifestFile, parseExact } from '@opsplane/contracts'
import { computeContentIntegrity, mergePermissions, type PackContent, readPack } from '@opsplane/pack-format'

export interface AvailablePacks {
  find(name: string): (PackContent & { integrity: string }) | undefined
  /** Ordered by name. */
  list(): Omit<AvailablePack, 'installedVersion'>[]
}

/**
 * Reads the packs in these folders, one for each subfolder; of two with the same name the later one wins. Throws for an
 * invalid pack, so that an operator notices it when the service starts.
 */
export function availablePacks(folders: readonly string[]): AvailablePacks {
  const found = new Map(folders.flatMap(packFolders).map((folder) => readFolder(folder)))
  const sorted = [...found.values()].sort((a, b) => (a.shown.name < b.shown.name ? -1 : 1))
  return {
    find: (name) => found.get(name)?.content,
    list: () => sorted.map(({ shown }) => shown),
  }
}

const packFolders = (folder: string): string[] =>
  readdirSync(folder)
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isDirectory() && readdirSync(path).includes(manifestFile))

function readFolder(folder: string) {
  const { [manifestFile]: manifest = '', ...files } = textsBelow(folder)
  const content: PackContent = { manifest: parseExact(manifest), files }
  const read = readPack(content)
  const [problem] = read.problems
  if (problem || read.manifest === null)
    throw new Error(`${folder}: ${problem?.file} ${problem?.path} ${problem?.message}`)
  const integrity = computeContentIntegrity(content)
  const { name, version, title = name, description } = read.manifest
  const shown = {
    ...{ name, packVersion: version, title, description, integrity },
    artifacts: read.artifacts.map(({ slug, kind, name, description }) => ({ slug, kind, name, description })),
    asks: mergePermissions(read.artifacts.map(({ permissions }) => permissions)),
  }
  return [name, { content: { ...content, integrity }, shown }] as const
}

function textsBelow(folder: string): Record<string, string> {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((path) => join(folder, path))
    .filter((path) => statSync(path).isFile())
  return Object.fromEntries(
    paths.map((path) => [relative(folder, path).replaceAll('\\', '/'), readFileSync(path, 'utf8')]),
  )
}
