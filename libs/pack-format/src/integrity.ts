import { createHash } from 'node:crypto'
import { canonicalJson } from '@opsplane/contracts'

/** Integrity in the format of npm: `sha512-` and the hash in base64. */
export const computeIntegrity = (bytes: Uint8Array | string): string =>
  `sha512-${createHash('sha512').update(bytes).digest('base64')}`

/** Integrity of a pack without a tarball; independent of the order of files and fields. */
export const computeContentIntegrity = (content: {
  manifest: unknown
  files: Readonly<Record<string, string>>
}) => computeIntegrity(canonicalJson(content))
