import type { DeliveryAttempt } from '../../api/api.js'

/** The consecutive phases of an attempt. `rest` is the time without a response. */
export const phaseNames = ['dns', 'connect', 'tls', 'firstByte', 'body', 'rest'] as const
export type PhaseName = (typeof phaseNames)[number]
export interface Phase {
  name: PhaseName
  ms: number
}

type Timings = Pick<DeliveryAttempt, 'dnsMs' | 'connectMs' | 'tlsMs' | 'firstByteMs' | 'totalMs'>

/** Phases that took time; empty if nothing was measured. */
export function computePhases({ dnsMs, connectMs, tlsMs, firstByteMs, totalMs }: Timings): Phase[] {
  const measured: [PhaseName, number][] = [
    ['dns', dnsMs ?? 0],
    ['connect', connectMs ?? 0],
    ['tls', tlsMs ?? 0],
    ['firstByte', firstByteMs ?? 0],
  ]
  const left = (totalMs ?? 0) - measured.reduce((sum, [, ms]) => sum + ms, 0)
  const last: [PhaseName, number] = [firstByteMs === null ? 'rest' : 'body', left]
  return [...measured, last].filter(([, ms]) => ms > 0).map(([name, ms]) => ({ name, ms }))
}
