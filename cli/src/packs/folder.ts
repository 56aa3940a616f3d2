import { existsSync, readFileSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import {
  type ManifestArtifact,
  manifestFile,
  PackManifest,
  type PackProblem,
  parseExact,
} from '@opsplane/contracts'
import { type PackContent, readPack } from '@opsplane/pack-format'
import { CliError, usageError } from '../failure.js'
import { bundleSource } from './bundle.js'

/** A pack in a folder, with the manifest and files that are sent. */
export interface FolderPack extends PackContent {
  folder: string
  /** Paths of the original sources of its artifacts. */
  sources: string[]
  problems: PackProblem[]
}

/**
 * Reads the pack in a folder. Sources that import more than `@opsplane/sdk` are bundled with their imports. Throws
 * CliError if the manifest does not exist or cannot be read.
 */
export async function readFolder(place: string): Promise<FolderPack> {
  const folder = resolve(place)
  const rawManifest = readManifest(folder)
  const parsed = PackManifest.safeParse(rawManifest)
  if (!parsed.success)
    return {
      folder,
      sources: [],
      manifest: rawManifest,
      files: {},
      problems: readPack({ manifest: rawManifest, files: {} }).problems,
    }
  const files = textsOf(folder, parsed.data.artifacts)
  const problems: PackProblem[] = []
  const artifacts: ManifestArtifact[] = []
  for (const artifact of parsed.data.artifacts) {
    const bundled = Object.hasOwn(files, artifact.source)
      ? await bundleSource(folder, artifact.source)
      : undefined
    problems.push(...(bundled?.problems ?? []))
    if (bundled?.text === undefined) artifacts.push(artifact)
    else {
      const source = `bundled/${artifact.slug}.js`
      files[source] = bundled.text
      artifacts.push({ ...artifact, source })
    }
  }
  const manifest = { ...parsed.data, artifacts }
  const sent = Object.fromEntries(Object.entries(files).filter(([path]) => namedIn(artifacts).has(path)))
  const read = readPack({ manifest, files: sent })
  const sources = [...new Set(parsed.data.artifacts.map(({ source }) => source))].filter((path) =>
    Object.hasOwn(files, path),
  )
  return { folder, sources, manifest, files: sent, problems: [...problems, ...read.problems] }
}

function readManifest(folder: string): unknown {
  const path = join(folder, manifestFile)
  if (!existsSync(path)) throw usageError(`${path} is not there. \`opsplane packs init\` begins a pack.`)
  try {
    return parseExact(readFileSync(path, 'utf8'))
  } catch (error) {
    throw new CliError(`${path} is not JSON: ${error instanceof Error ? error.message : error}`, 1)
  }
}

/** Paths of the files that the artifacts refer to. */
function namedIn(artifacts: readonly ManifestArtifact[]): Set<string> {
  return new Set(
    artifacts
      .flatMap(({ source, input, output, tests }) => [source, input, output, tests])
      .filter((path) => typeof path === 'string'),
  )
}

/** A missing file is skipped here: it is reported as a problem of the manifest. */
function textsOf(folder: string, artifacts: readonly ManifestArtifact[]): Record<string, string> {
  const there = [...namedIn(artifacts)].filter((path) => {
    const target = join(folder, path)
    return existsSync(target) && statSync(target).isFile()
  })
  return Object.fromEntries(there.map((path) => [path, readFileSync(join(folder, path), 'utf8')]))
}
