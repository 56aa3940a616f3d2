import { ApiError, type Instant } from '@opsplane/contracts'

/** A signing secret as the vault sealed it. Several may be valid while one replaces another. */
export interface SealedSecret {
  sealed: string
  createdAt: Instant
  /** Null: valid until replaced. */
  expiresAt: Instant | null
}

/** Each valid secret is one more signature on every request. */
export const maxValidSecrets = 10

/** Whether requests made at this instant are signed with it. */
export function isValidAt({ expiresAt }: Pick<SealedSecret, 'expiresAt'>, now: Instant): boolean {
  return expiresAt === null || expiresAt > now
}

export interface Rotation {
  sealedSecret: string
  now: Instant
  /** The end of the replaced secret's validity; null ends it, and every earlier overlap, at once. */
  overlapUntil: Instant | null
}

/**
 * The secrets after a rotation, newest first. A secret replaced earlier keeps the overlap it was given. Throws
 * `conflict` when too many would be valid at once.
 */
export function rotateSecrets(
  secrets: readonly SealedSecret[],
  { sealedSecret, now, overlapUntil }: Rotation,
): SealedSecret[] {
  const valid = overlapUntil === null ? [] : secrets.filter((secret) => isValidAt(secret, now))
  if (valid.length >= maxValidSecrets)
    throw new ApiError(
      'conflict',
      `${maxValidSecrets} secrets are valid already. Wait for an overlap to end, or end all with overlapSeconds 0.`,
    )
  const replaced = valid.map((secret) => ({ ...secret, expiresAt: secret.expiresAt ?? overlapUntil }))
  return [{ sealed: sealedSecret, createdAt: now, expiresAt: null }, ...replaced]
}
