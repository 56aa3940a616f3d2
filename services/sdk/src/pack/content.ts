import { type CheckPack, invalidField, manifestFile, type PackState, parseExact } from '@opsplane/contracts'
import {
  computeContentIntegrity,
  computeIntegrity,
  type PackContent,
  TarballError,
  unpackTarball,
} from '@opsplane/pack-format'
import type { AvailablePacks } from './available.js'

/** A pack with its source. */
export interface ResolvedPack extends PackContent {
  integrity: string
  source: PackState['source']
}

/**
 * Returns the pack that a request names or contains. Throws `validation_failed` for a tarball that does not match its
 * integrity.
 */
export async function resolvePack(body: CheckPack, available: AvailablePacks): Promise<ResolvedPack> {
  if (body.tarball !== undefined) return fromTarball(body.tarball, body.integrity ?? '')
  if (body.available !== undefined) {
    const found = available.find(body.available)
    if (!found) throw invalidField('/available', 'unknown_pack', 'There is no such pack to install.')
    return { ...found, source: 'available' }
  }
  const content = { manifest: body.manifest, files: body.files ?? {} }
  return { ...content, integrity: computeContentIntegrity(content), source: 'inline' }
}

async function fromTarball(base64: string, integrity: string): Promise<ResolvedPack> {
  const bytes = Buffer.from(base64, 'base64')
  if (computeIntegrity(bytes) !== integrity)
    throw invalidField('/integrity', 'integrity_mismatch', 'The tarball is not the one this integrity is of.')
  const texts = await unpackTarball(bytes).catch((error: unknown) => {
    if (error instanceof TarballError) throw invalidField('/tarball', 'invalid_tarball', error.message)
    throw error
  })
  const { [manifestFile]: manifest, ...files } = texts
  if (manifest === undefined)
    throw invalidField('/tarball', 'missing_file', `It has no ${manifestFile} at its root.`)
  return { manifest: parsed(manifest), files, integrity, source: 'tarball' }
}

function parsed(manifest: string): unknown {
  try {
    return parseExact(manifest)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw invalidField('/tarball', 'malformed_json', `${manifestFile} is no JSON: ${reason}`)
  }
}
