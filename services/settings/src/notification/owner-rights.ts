import { endedKey } from '@opsplane/contracts'
import { oneLine } from '@opsplane/runtime'

interface Suspended {
  /** Type of the resource, such as `workflow`. */
  kind: string
  name: string
  environment: string
  missing: readonly string[]
  /** The effect of the suspension, as a sentence. */
  effect: string
  /** The call with which a person with the permissions takes it over. */
  takeOver: string
}

/** The text about a resource that the platform suspended because its owner lost permissions it needs. */
export function ownerRightsText({ kind, name, environment, missing, effect, takeOver }: Suspended): {
  severity: 'critical'
  title: string
  message: string
} {
  const shown = oneLine(name)
  const lacks = missing.includes('membership')
    ? 'is no member of the workspace any more'
    : missing.includes(endedKey)
      ? 'gave it its rights by an API key that was revoked or has expired'
      : `lacks ${missing.join(', ')}`
  return {
    severity: 'critical',
    title: `The ${kind} "${shown}" was suspended: its owner may no longer do what it needs`,
    message:
      `Opsplane suspended the ${kind} "${shown}" in ${environment}, because the user it acts for ${lacks}. ${effect} ` +
      `A person with these permissions takes it over by ${takeOver}.`,
  }
}
