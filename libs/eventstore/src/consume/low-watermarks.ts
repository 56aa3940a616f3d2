import { eventHeaders } from '@opsplane/contracts'
import type { StreamMessage } from '@opsplane/nats'

/**
 * Tracks, by source, the position up to which a consumer has handled each service's log without a gap. A message
 * at sequence q with the low watermark F of a source states that everything in that log up to F is in the stream
 * at or before q. So once everything up to q is acknowledged, everything up to F is handled.
 */
export function createLowWatermarks() {
  const lowWatermarks = new Map<string, number>()
  let noted: { seq: number; source: string; floor: number }[] = []
  return {
    /** Called for every message that arrives, whether it is handled or not. */
    note(message: StreamMessage) {
      const source = message.header(eventHeaders.source)
      const floor = Number(message.header(eventHeaders.lowWatermark))
      if (source !== undefined && floor > 0) noted.push({ seq: message.seq, source, floor })
    },
    /** Everything up to this sequence of the stream is acknowledged. */
    acknowledged(sequence: number) {
      for (const { seq, source, floor } of noted)
        if (seq <= sequence && floor > (lowWatermarks.get(source) ?? 0)) lowWatermarks.set(source, floor)
      noted = noted.filter(({ seq }) => seq > sequence)
    },
    /** The stream was recreated: its sequences start again. */
    forget() {
      noted = []
    },
    /** Restores the recorded low watermarks. */
    restore(known: ReadonlyMap<string, number>) {
      for (const [source, floor] of known) lowWatermarks.set(source, floor)
    },
    current: (): ReadonlyMap<string, number> => lowWatermarks,
  }
}
