import { invalidField, type ResolveIncident } from '@opsplane/contracts'

/** Throws validation_failed naming the resolution fields that the settings require and that are missing. */
export function checkResolution({
  resolutionRequired,
  ...resolution
}: ResolveIncident & { resolutionRequired?: boolean }): void {
  if (!resolutionRequired) return
  const missing = (['resolutionCode', 'resolutionNotes'] as const).find(
    (name) => resolution[name] === undefined,
  )
  if (missing !== undefined)
    throw invalidField(`/${missing}`, 'required', 'Resolving needs a code and notes in this workspace.')
}
