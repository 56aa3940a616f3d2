import { ApiError, type Instant } from '@opsplane/contracts'

/** A sealed signing secret. Several may be valid during a rotation. */
export interface SealedSecret {
  sealed: string
  createdAt: Instant
  /** Null: valid until replaced. */
  expiresAt: Instant | null
}

/** Each valid secret adds a signature to every request. */
export const maxValidSecrets = 10

/** Whether requests made at this instant are signed with the secret. */
export function isValidAt({ expiresAt }: Pick<SealedSecret, 'expiresAt'>, now: Instant): boolean {
  return expiresAt === null || expiresAt > now
}

export interface Rotation {
  sealedSecret: string
  now: Instant
  /** When the replaced secret expires; null ends it, and every earlier overlap, immediately. */
  overlapUntil: Instant | null
}

/**
 * The secrets after a rotation, newest first. A secret replaced earlier keeps its overlap. Throws `conflict` if too
 * many would be valid at the same time.
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
