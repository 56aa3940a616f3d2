import { promisify } from 'node:util'
import { constants, gunzip, gzip } from 'node:zlib'
import { PackPath, packLimits } from '@opsplane/contracts'
import { readTar, TarError, writeTar } from './tar.js'

const inflate = promisify(gunzip)
const deflate = promisify(gzip)

/** Not a valid tarball, or one with content that a pack must not have. */
export class TarballError extends Error {}

/** Maximum size when unpacked, in bytes: files, headers and padding. */
const maxInflated = packLimits.totalBytes + (packLimits.files + 1) * 4_096 + 64 * 1_024

/**
 * Unpacks the texts of a gzipped tar archive by path, without the common top folder, such as `package/` of `npm pack`.
 * Throws TarballError.
 */
export async function unpackTarball(bytes: Uint8Array): Promise<Record<string, string>> {
  const archive = await inflate(bytes, { maxOutputLength: maxInflated }).catch((error: unknown) => {
    throw new TarballError(
      isTooLarge(error) ? 'It holds more than a pack may.' : 'It is not compressed by gzip.',
      { cause: error },
    )
  })
  const files = filesOf(archive)
  if (files.length > packLimits.files + 1)
    throw new TarballError(`It holds more than ${packLimits.files} files.`)
  const entries = files.map(
    ({ path, bytes }) => [path.replace(/^(?:\.\/)+/, ''), textOf(path, bytes)] as const,
  )
  const folder = commonFolder(entries.map(([path]) => path))
  const texts = entries.map(([path, text]) => [path.slice(folder.length), text] as const)
  const outside = texts.find(([path]) => !PackPath.safeParse(path).success)
  if (outside) throw new TarballError(`${JSON.stringify(outside[0])} is no path of a pack.`)
  if (new Set(texts.map(([path]) => path)).size < texts.length)
    throw new TarballError('It holds a path twice.')
  return Object.fromEntries(texts)
}

/** Packs files below `package/`, reproducibly. */
export async function packTarball(files: Readonly<Record<string, string>>): Promise<Buffer> {
  const sorted = Object.keys(files).sort()
  const archive = writeTar(
    sorted.map((path) => ({ path: `package/${path}`, bytes: Buffer.from(files[path] ?? '') })),
  )
  const packed = await deflate(archive, { level: constants.Z_BEST_COMPRESSION })
  // The header byte that names the operating system.
  packed[9] = 255
  return packed
}

function filesOf(archive: Buffer) {
  try {
    return readTar(archive)
  } catch (error) {
    if (error instanceof TarError) throw new TarballError(error.message, { cause: error })
    throw error
  }
}

const isTooLarge = (error: unknown) =>
  typeof error === 'object' && error !== null && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE'

function textOf(path: string, bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (error) {
    throw new TarballError(`${JSON.stringify(path)} is no text in UTF-8.`, { cause: error })
  }
}

function commonFolder(paths: readonly string[]): string {
  const first = paths[0] ?? ''
  const folder = first.slice(0, first.indexOf('/') + 1)
  return folder.length > 1 && paths.every((path) => path.startsWith(folder)) ? folder : ''
}
