import { describe, expect, it } from '@jest/globals'
import type { PlatformEvent } from '@opsplane/contracts'
import type { StartedAttempt } from '../job.js'
import type { TenantWebhooks } from '../match/webhook-index.js'
import type { AttemptColumns } from '../record/record-statement.js'
import type { FanOutBatch, NewDelivery } from './fan-out-statement.js'
import { createFanOutWriter, type WriteFanOut } from './fan-out-writer.js'

type Insert = (rows: FanOutBatch) => Promise<Set<string> | undefined>

const all: Insert = async ({ deliveries }) => new Set(deliveries.map(({ id }) => id))

/** A writer whose clock only advances with `pass`. */
function openWriter(insert: Insert = all) {
  const statements: FanOutBatch[] = []
  const waiting: { at: number; callback: () => void }[] = []
  let nowMs = 1_000
  const write = createFanOutWriter({
    now: () => nowMs,
    nowMs: () => nowMs,
    after: (ms, callback) => void waiting.push({ at: nowMs + ms, callback }),
    insert: (rows) => {
      statements.push(rows)
      return insert(rows)
    },
  })
  return {
    write: (...parts: Parameters<WriteFanOut>) => write(...parts),
    pass(ms: number) {
      nowMs += ms
      for (const timer of waiting.splice(0))
        if (timer.at <= nowMs) timer.callback()
        else waiting.push(timer)
    },
    /** Delivery ids of each statement so far. */
    statements: () => statements.map(({ deliveries }) => deliveries.map(({ id }) => id)),
    last: () => statements.at(-1),
  }
}

/**
 * A batch of one event with one delivery of the same name; its first attempt ends at the
 * given time with the given result.
 */
function batch(
  id: string,
  {
    started = true,
    ended = Promise.resolve(),
    columns = {},
    workspaceId = 'ws_1',
    revision = 1,
  }: {
    started?: boolean
    ended?: Promise<void>
    columns?: object
    workspaceId?: string
    revision?: number
  } = {},
) {
  const event = { id, workspaceId, environment: 'production' } as PlatformEvent
  const incoming = { event, place: 0, origin: { source: 'itsm', position: 1 }, redelivered: false }
  const attempt = Object.keys(columns).length > 0 ? ({ id, ...columns } as AttemptColumns) : undefined
  const draft = {
    incoming,
    row: { id } as NewDelivery,
    started: started ? ({ columns: attempt, ended } as StartedAttempt) : undefined,
  }
  const tenant = { workspaceId, environment: 'production', revision }
  const tenants = [{ tenant, revision } as unknown as TenantWebhooks]
  const of = { incoming: [incoming], origins: [incoming.origin], tenants, jsonOf: () => `{"id":"${id}"}` }
  return [[draft], of] satisfies Parameters<WriteFanOut>
}

/** Lets the callbacks of ended attempts run. */
const allEnded = () => new Promise<void>((resolve) => setImmediate(resolve))

describe('the writer of a fan-out', () => {
  it('writes the first batch immediately, and combines those of the next milliseconds in one statement', async () => {
    const writer = openWriter()
    expect(await writer.write(...batch('a'))).toMatchObject({ made: new Set(['a']) })
    const others = ['b', 'c', 'd'].map((id) => writer.write(...batch(id)))
    expect(writer.statements()).toEqual([['a']])
    writer.pass(40)
    expect((await Promise.all(others)).map((written) => [...(written?.made ?? [])])).toEqual([
      ['b'],
      ['c'],
      ['d'],
    ])
    expect(writer.statements()).toEqual([['a'], ['b', 'c', 'd']])
    expect(writer.last()?.revisions).toEqual([
      { workspaceId: 'ws_1', environment: 'production', revision: 1 },
    ])
  })

  describe('with batches whose attempts are in flight', () => {
    const never = new Promise<void>(() => {})

    it('waits some milliseconds for the attempts to end', async () => {
      const writer = openWriter()
      let end = () => {}
      const ended = new Promise<void>((resolve) => {
        end = resolve
      })
      const written = writer.write(...batch('a', { ended }))
      expect(writer.statements()).toEqual([])
      end()
      await written
      expect(writer.statements()).toEqual([['a']])
      void writer.write(...batch('slow', { ended: never }))
      writer.pass(39)
      expect(writer.statements()).toEqual([['a']])
      writer.pass(1)
      expect(writer.statements()).toEqual([['a'], ['slow']])
    })

    it('writes the batches whose attempts have ended, and the others after their own delay', async () => {
      const writer = openWriter()
      await writer.write(...batch('a'))
      const b = writer.write(...batch('b'))
      writer.pass(38)
      void writer.write(...batch('slow', { ended: never }))
      await allEnded()
      writer.pass(2)
      await b
      await allEnded()
      expect(writer.statements()).toEqual([['a'], ['b']])
      writer.pass(40)
      expect(writer.statements()).toEqual([['a'], ['b'], ['slow']])
    })

    it('delays eight batches no longer than one', async () => {
      const writer = openWriter()
      await writer.write(...batch('a'))
      for (const id of 'bcdefghi') void writer.write(...batch(id, { ended: never }))
      writer.pass(3)
      expect(writer.statements()).toEqual([['a']])
      writer.pass(1)
      expect(writer.statements()).toEqual([['a'], [...'bcdefghi']])
    })

    it('does not extend the delay for an attempt that starts only after its row is written', async () => {
      const writer = openWriter()
      await writer.write(...batch('a'))
      const [plain, of] = batch('plain', { ended: never })
      const [ordered] = batch('ordered', { started: false })
      void writer.write([...plain, ...ordered], of)
      writer.pass(4)
      expect(writer.statements()).toEqual([['a'], ['plain', 'ordered']])
    })
  })

  it('writes without further delay once eight batches have gathered, to free their places', async () => {
    const writer = openWriter()
    await writer.write(...batch('a'))
    const gathered = [...'bcdefgh'].map((id) => writer.write(...batch(id)))
    expect(writer.statements()).toEqual([['a']])
    await Promise.all([...gathered, writer.write(...batch('i'))])
    expect(writer.statements()).toEqual([['a'], [...'bcdefghi']])
  })

  it('does not delay an attempt that starts only after its row is written', async () => {
    const writer = openWriter()
    await writer.write(...batch('a'))
    const plain = writer.write(...batch('b'))
    await allEnded()
    await writer.write(...batch('ordered', { started: false }))
    await plain
    expect(writer.statements()).toEqual([['a'], ['b', 'ordered']])
  })

  it('runs two statements concurrently, and combines the remaining batches in the next one', async () => {
    let end: () => void = () => {}
    const locked = new Promise<void>((resolve) => {
      end = resolve
    })
    const writer = openWriter(async (rows) => {
      await locked
      return all(rows)
    })
    const written = ['a', 'b', 'c', 'd'].map((id) => writer.write(...batch(id, { started: false })))
    expect(writer.statements()).toEqual([['a'], ['b']])
    end()
    await Promise.all(written)
    expect(writer.statements()).toEqual([['a'], ['b'], ['c', 'd']])
  })

  it('returns only the batch whose webhooks have changed for another fan-out', async () => {
    const writer = openWriter(async (rows) =>
      rows.revisions.some(({ revision }) => revision === 1) ? undefined : all(rows),
    )
    await writer.write(...batch('a'))
    const stale = writer.write(...batch('stale'))
    const current = writer.write(...batch('current', { workspaceId: 'ws_2', revision: 2 }))
    writer.pass(40)
    expect([await stale, await current]).toMatchObject([undefined, { made: new Set(['current']) }])
    expect(writer.statements()).toEqual([['a'], ['stale', 'current'], ['stale'], ['current']])
  })

  it('rejects only the batch that Postgres rejects, and all batches while Postgres is unavailable', async () => {
    let error = new Error('refused')
    const writer = openWriter(async (rows) => {
      if (rows.deliveries.some(({ id }) => id === 'odd')) throw error
      return all(rows)
    })
    const together = async () => {
      await writer.write(...batch('a'))
      const written = Promise.allSettled(['odd', 'fine'].map((id) => writer.write(...batch(id))))
      writer.pass(40)
      return (await written).map(({ status }) => status)
    }
    expect(await together()).toEqual(['rejected', 'fulfilled'])
    writer.pass(40)
    error = Object.assign(new Error('away'), { code: 'ECONNREFUSED' })
    expect(await together()).toEqual(['rejected', 'rejected'])
  })

  it('records successful attempts in the same statement, or separately if Postgres rejects it', async () => {
    const columns = { response_body: '\ud800' }
    const writer = openWriter()
    const written = await writer.write(...batch('a', { columns }))
    expect([written?.recorded, writer.last()?.attempts]).toMatchObject([new Set(['a']), [{ id: 'a' }]])
    const strict = openWriter(async (rows) => {
      if (rows.attempts.length > 0) throw new Error('no such character')
      return all(rows)
    })
    expect(await strict.write(...batch('a', { columns }))).toEqual({
      made: new Set(['a']),
      recorded: new Set(),
    })
  })

  it('reports a delivery of two batches as new for only one of them', async () => {
    const writer = openWriter()
    await writer.write(...batch('a'))
    const twice = [writer.write(...batch('b')), writer.write(...batch('b'))]
    writer.pass(40)
    expect((await Promise.all(twice)).map((written) => written?.made)).toEqual([new Set(['b']), new Set()])
  })
})
