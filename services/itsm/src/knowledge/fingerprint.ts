import { sha256Hex } from '@opsplane/runtime'

/** Stands for a body in events, which are too small for bodies themselves. */
export const fingerprintOf = (body: string): string => sha256Hex(body)
