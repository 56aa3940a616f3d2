import type { Instant } from '@opsplane/contracts'
import { generateSecret, generateURI, verifySync } from 'otplib'

/** Defaults of authenticator apps: six digits of HMAC-SHA-1, in steps of 30 seconds. */
const stepSeconds = 30

export const newTotpSecret = (): string => generateSecret()

/** URI for the QR code of an authenticator app. */
export const totpUri = ({ issuer, email, secret }: { issuer: string; email: string; secret: string }) =>
  generateURI({ issuer, label: email, secret })

/**
 * The time step of a code: the current one, or the one before or after it, to tolerate clock differences. `null` if
 * the code matches none.
 */
export function totpStep(secret: string, code: string, now: Instant): number | null {
  if (!/^\d{6}$/.test(code)) return null
  const epoch = Math.floor(Date.parse(now) / 1_000)
  const result = verifySync({ secret, token: code, epoch, epochTolerance: stepSeconds })
  return result.valid && 'timeStep' in result ? result.timeStep : null
}
