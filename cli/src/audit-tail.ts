import { AuditEvent } from '@opsplane/contracts'
import { delay } from '@opsplane/runtime'
import type { Api } from './api.js'
import { AuditReading, type ReadingKind } from './audit-reading.js'
import { follow } from './follow.js'

export interface AuditTailOptions {
  api: Api
  type?: string | undefined
  /** Events from then on; only what arrives from now on when absent. */
  since?: string | undefined
  overlapMs: number
  signal: AbortSignal
  say(line: string): void
  /** Gets each event once; false: it has had enough. */
  onEvent(event: AuditEvent): boolean
}

const pollMs = 1_000
const wideEvery = 10

/** Follows the audit log until the signal, or until `onEvent` has had enough. */
export async function tailAudit(options: AuditTailOptions): Promise<void> {
  const { api, type, since, overlapMs, signal, say, onEvent } = options
  const path = '/audit'
  // A platform that is away from the start is an error, not something to wait for.
  const [newest] = (await api.page(AuditEvent, { path, query: { type, limit: 1 } })).data
  const reading = new AuditReading({ overlapMs, since, newest: newest?.createdAt })

  /** Hands on what is new; false when it was enough. */
  const read = async (kind: ReadingKind, take: (event: AuditEvent) => boolean) => {
    const query = { type, from: reading.begin(kind), sort: 'createdAt' }
    for await (const page of api.pages(AuditEvent, { path, query, signal, attempts: 1 })) {
      for (const event of reading.take(page)) if (!take(event)) return false
    }
    reading.done(kind)
    return true
  }

  let polls = 0
  const poll = async () => {
    const kind = polls === 0 ? 'first' : polls % wideEvery === 0 ? 'wide' : 'narrow'
    // Without a time to begin with, what is there already is only taken note of.
    const take = kind === 'first' && since === undefined ? () => true : onEvent
    if (!(await read(kind, take))) return false
    polls++
    await delay(pollMs, signal)
    return true
  }
  await follow(poll, { signal, say })
}
