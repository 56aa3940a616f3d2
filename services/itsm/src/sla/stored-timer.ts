import { SlaTimer } from '@opsplane/contracts'
import { z } from 'zod'

/** Clocks from before goals by priority went by severity, and ran over incidents alone. */
const Earlier = z.looseObject({ severity: z.string(), incidentVersion: z.int() })

/** A stored clock in its present shape. */
export function storedTimer(stored: unknown): SlaTimer {
  const earlier = Earlier.safeParse(stored)
  if (!earlier.success) return SlaTimer.parse(stored)
  const { severity, incidentVersion, ...rest } = earlier.data
  return SlaTimer.parse({ ...rest, goalsBy: 'severity', goalKey: severity, entityVersion: incidentVersion })
}
