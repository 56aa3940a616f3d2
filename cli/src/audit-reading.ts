import type { AuditEvent } from '@opsplane/contracts'

export interface AuditReadingOptions {
  /** How much later than younger events one may reach the audit log. */
  overlapMs: number
  /** Time of the newest event there is; undefined when there is none. */
  newest: string | undefined
  /** Nothing older than this counts. */
  since?: string | undefined
}

/** `first` begins where one is to begin, `narrow` goes back a few seconds, `wide` as far as events may be late. */
export type ReadingKind = 'first' | 'narrow' | 'wide'

/**
 * Where to read on in the audit log, whose events do not arrive in the order of their times. A wide reading goes back
 * from the newest event that was known when the wide reading before it began, so that what arrived behind that reading
 * is met by this one. Events read before are known by their ids.
 */
export class AuditReading {
  readonly #seen = new Map<string, number>()
  #newestMs: number
  /** From here less the overlap, events may be missing. */
  #baseMs: number
  #nextBaseMs: number

  constructor(private readonly options: AuditReadingOptions) {
    this.#newestMs = msOf(options.newest)
    this.#baseMs = this.#newestMs
    this.#nextBaseMs = this.#newestMs
  }

  /** The time a reading begins with; undefined for the beginning of the log. */
  begin(kind: ReadingKind): string | undefined {
    const { overlapMs, since } = this.options
    if (kind === 'first' && since !== undefined) return since
    if (kind === 'wide') this.#nextBaseMs = this.#newestMs
    const from = kind === 'narrow' ? this.#newestMs - Math.min(narrowMs, overlapMs) : this.#baseMs - overlapMs
    const begin = Math.max(from, msOf(since))
    return Number.isFinite(begin) ? new Date(begin).toISOString() : undefined
  }

  /** Those of a page that were not read before. */
  take<Event extends Pick<AuditEvent, 'id' | 'createdAt'>>(events: readonly Event[]): Event[] {
    const fresh = events.filter(({ id }) => !this.#seen.has(id))
    for (const { id, createdAt } of fresh) {
      const atMs = msOf(createdAt)
      this.#seen.set(id, atMs)
      this.#newestMs = Math.max(this.#newestMs, atMs)
    }
    return fresh
  }

  /** A reading came to its end. One that did not has to be repeated as it was. */
  done(kind: ReadingKind): void {
    if (kind === 'narrow') return
    this.#baseMs = this.#nextBaseMs
    const from = this.#baseMs - this.options.overlapMs
    for (const [id, atMs] of this.#seen) if (atMs < from) this.#seen.delete(id)
  }
}

const narrowMs = 5_000

const msOf = (instant: string | undefined) =>
  instant === undefined ? Number.NEGATIVE_INFINITY : Date.parse(instant)
