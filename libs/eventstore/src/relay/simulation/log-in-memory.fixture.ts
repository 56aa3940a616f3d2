import type { LogEdge } from '../../log-end.js'
import type { LoggedEvent } from '../../logged-events.js'
import type { StreamMark } from '../stream-marks.js'

interface LeaseRow {
  owner: string
  fence: number
  expiresAt: number
}

export type MarkRow = Omit<StreamMark, 'at'> & { createdAt: number }

/** The server's time. */
interface Time {
  readonly now: number
  after(ms: number, act: () => void): unknown
}

/** A transaction that has drawn positions and has not ended. */
interface Writer {
  id: string
  end(): void
}

/** The WAL writer flushes within three times its delay. */
export const flushedWithinMs = 600

/** The tables of a service that its relay uses, and the sequence that positions are drawn from. */
export class LogInMemory {
  readonly events = new Map<number, LoggedEvent>()
  readonly outbox = new Map<number, { workspaceId: string; eventId: string }>()
  readonly marks = new Map<number, MarkRow>()
  readonly deadLetters: string[] = []
  lease: LeaseRow | undefined
  readonly #writers = new Set<Writer>()
  readonly #heads = new Map<string, { version: number; locked: boolean }>()
  readonly #time: Time
  #drawn = 0
  /** The last position whose WAL is on disk. */
  #durable = 0
  #serial = 0
  #crashes = 0

  constructor(time: Time) {
    this.#time = time
  }

  now(): number {
    return this.#time.now
  }

  /**
   * Draws a position whose transaction may commit or roll back, possibly after others above it. `undefined` if
   * another transaction is writing to the stream.
   */
  begin(
    streamId: string,
  ): { position: number; version: number; commit(event: LoggedEvent): void; abort(): void } | undefined {
    const head = this.#heads.get(streamId) ?? { version: 0, locked: false }
    if (head.locked) return undefined
    this.#heads.set(streamId, head)
    head.locked = true
    const position = ++this.#drawn
    const end = () => {
      head.locked = false
    }
    const writer = { id: `w${++this.#serial}`, end }
    this.#writers.add(writer)
    const release = () => {
      if (!this.#writers.delete(writer)) return false
      writer.end()
      return true
    }
    return {
      position,
      version: head.version + 1,
      commit: (event) => {
        // Postgres has crashed meanwhile: the transaction is gone.
        if (!release()) throw Object.assign(new Error('the server has crashed'), { code: '57P02' })
        head.version++
        this.#durable = this.#drawn
        this.events.set(position, event)
        this.outbox.set(position, { workspaceId: event.workspaceId, eventId: event.id })
      },
      abort: () => {
        if (release()) this.#time.after(flushedWithinMs, () => this.flush())
      },
    }
  }

  /** Postgres crashes and restarts: positions of which nothing is on disk are drawn again. */
  crash(): void {
    for (const writer of this.#writers) writer.end()
    this.#writers.clear()
    this.#crashes++
    this.#drawn = this.#durable
  }

  /** WAL that no commit waits for is on disk a moment later. */
  flush(): void {
    this.#durable = this.#drawn
  }

  edge(): LogEdge {
    const writers = [...this.#writers].map(({ id }) => id)
    const history = String(this.#crashes)
    return { last: this.#drawn, writers, logged: this.#drawn, flushed: this.#durable, history }
  }
}

/** An event of the log, with the fields of an envelope. */
export function loggedEvent(
  id: string,
  {
    position,
    streamId,
    version,
    workspaceId,
  }: { position: number; streamId: string; version: number; workspaceId: string },
): LoggedEvent {
  return {
    ...{ id, position: String(position), streamId, version, workspaceId },
    type: 'ticket.opened',
    environment: 'production',
    actor: '{"id":"usr_1","name":"Ann","type":"user"}',
    resource: `{"type":"ticket","id":"${streamId}","displayName":"x"}`,
    data: '{"before":null,"after":{},"changes":[]}',
    requestId: null,
    causationId: null,
    source: null,
    createdAt: '2026-01-01T00:00:00.000Z',
    trace: null,
  }
}
