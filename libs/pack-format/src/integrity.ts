import { createHash } from 'node:crypto'
import { canonicalJson } from '@opsplane/contracts'

/** As npm has it: `sha512-` and the hash in base64. */
export const computeIntegrity = (bytes: Uint8Array | string): string =>
  `sha512-${createHash('sha512').update(bytes).digest('base64')}`

/** Of a pack that came without a tarball; the same for whatever order its files and fields are in. */
export const computeContentIntegrity = (content: {
  manifest: unknown
  files: Readonly<Record<string, string>>
}) => computeIntegrity(canonicalJson(content))
