import type { Database, WakeHints } from '@opsplane/postgres'
import { delay, idleIntervalMs, type Logger } from '@opsplane/runtime'
import { createHeartbeats } from './heartbeats.js'
import { type LiveEvent, liveEvent } from './live-event.js'

/** Receives a log's events in order and without gaps. Must not throw. */
export type Listener = (events: readonly LiveEvent[]) => void

export interface AuditTails {
  /** Calls `listener` with every event after the returned `seq` until `stop` is called. */
  follow(workspaceId: string, listener: Listener): Promise<{ seq: number; stop(): void }>
  /** Events with `after` < `seq` <= `upTo` of a chain, in pages. */
  between(workspaceId: string, after: number, upTo: number): AsyncGenerator<LiveEvent[]>
  /** Whether a log is currently being followed on this replica. */
  isFollowed(): boolean
  /** To be called when this replica has appended to the log. */
  grown(): void
  /** Calls `listener` every 15 s, and once when the process drains, until the returned function is called. */
  onBeat(listener: () => void): () => void
  /** Whether the process drains: streams end immediately, and clients continue on another replica. */
  isEnding(): boolean
  end(): void
  close(): Promise<void>
}

export interface TailOptions {
  sql: Database['sql']
  hints: WakeHints
  log: Logger
}

interface Tail {
  seq: number
  listeners: Set<Listener>
}

/** Polling interval in milliseconds: finds events whose wake-up notification was lost. */
const pollIntervalMs = 2_000
const heartbeatMs = 15_000
const pageRows = 50
const pageBytes = 256 * 1024
const work = 'audit-log'

/** Follows the end of each audit log that has readers. All readers of a log share one tail. */
export function createAuditTails({ sql, hints, log }: TailOptions): AuditTails {
  const closing = new AbortController()
  const heartbeats = createHeartbeats(idleIntervalMs(heartbeatMs))
  let isEnding = false
  const tails = new Map<string, Tail>()
  let interrupt = new AbortController()
  let isAway = false

  const wake = () => interrupt.abort()
  const unsubscribe = hints.subscribe(work, wake)

  const endsOf = async (workspaceIds: readonly string[]): Promise<Map<string, number>> => {
    const rows = await sql.unsafe<{ id: string; seq: string }[]>(
      'select workspace_id as id, seq from audit_heads where workspace_id = any($1::text[])',
      [[...workspaceIds]],
      { prepare: true },
    )
    return new Map(rows.map(({ id, seq }) => [id, Number(seq)]))
  }
  async function* between(workspaceId: string, after: number, upTo: number): AsyncGenerator<LiveEvent[]> {
    for (let from = after; from < upTo; ) {
      const to = Math.min(from + pageRows, upTo)
      const rows = await sql.unsafe<{ seq: string; state: Record<string, unknown> }[]>(
        `select seq, event as state from audit_log where workspace_id = $1 and seq > $2::text::bigint and seq <= $3::text::bigint
         order by seq`,
        [workspaceId, String(from), String(to)],
        { prepare: true },
      )
      yield* inPages(rows.map(({ seq, state }) => liveEvent({ seq: Number(seq), state })))
      from = to
    }
  }

  /** Reads a page of each log in turn, so one busy workspace does not delay the others. */
  const advance = async (workspaceId: string, tail: Tail, end: number) => {
    for await (const events of between(workspaceId, tail.seq, Math.min(tail.seq + pageRows, end))) {
      tail.seq = events.at(-1)?.seq ?? end
      for (const listener of [...tail.listeners]) listener(events)
    }
  }
  const poll = async () => {
    if (tails.size === 0) return
    const ends = await endsOf([...tails.keys()])
    for (let isBehind = true; isBehind && !closing.signal.aborted; ) {
      isBehind = false
      for (const [workspaceId, tail] of [...tails]) {
        const end = ends.get(workspaceId) ?? 0
        if (end <= tail.seq) continue
        await advance(workspaceId, tail, end)
        isBehind ||= tail.seq < end
      }
    }
  }
  const run = async () => {
    while (!closing.signal.aborted) {
      interrupt = new AbortController()
      try {
        await poll()
        isAway = false
      } catch (err) {
        if (!isAway) log.warn({ err }, 'the audit log cannot be read for event streams, still trying')
        isAway = true
      }
      await delay(idleIntervalMs(pollIntervalMs), AbortSignal.any([interrupt.signal, closing.signal]))
    }
  }
  const running = run()
  const end = () => {
    isEnding = true
    heartbeats.all()
  }

  return {
    between,
    onBeat: heartbeats.add,
    isEnding: () => isEnding,
    isFollowed: () => tails.size > 0,
    end,
    async follow(workspaceId, listener) {
      const seq = tails.get(workspaceId)?.seq ?? (await endsOf([workspaceId])).get(workspaceId) ?? 0
      // Another reader may have started the tail meanwhile.
      const tail = tails.get(workspaceId) ?? { seq, listeners: new Set() }
      tails.set(workspaceId, tail)
      tail.listeners.add(listener)
      const stop = () => {
        tail.listeners.delete(listener)
        if (tail.listeners.size === 0) tails.delete(workspaceId)
      }
      return { seq: tail.seq, stop }
    },
    grown() {
      if (tails.size > 0) wake()
      hints.send(work)
    },
    async close() {
      end()
      heartbeats.close()
      closing.abort()
      unsubscribe()
      await running
    },
  }
}

/** Splits events into pages, so that disconnected readers are detected and the data in flight to a reader is bounded. */
function* inPages(events: readonly LiveEvent[]): Generator<LiveEvent[]> {
  let page: LiveEvent[] = []
  let bytes = 0
  for (const event of events) {
    page.push(event)
    bytes += event.frame.length
    if (bytes < pageBytes) continue
    yield page
    page = []
    bytes = 0
  }
  if (page.length > 0) yield page
}
