import type { Database } from '@opsplane/postgres'
import { delay, type Logger } from '@opsplane/runtime'
import { type Turns as Given, giveTurns, type Line, sweepTurns } from './turn-statement.js'

export interface TurnsOptions {
  sql: Database['sql']
  /** Up to this place of the stream every event has been fanned out; rejects while that cannot be asked. */
  floor(): Promise<string>
  /** Monotonic milliseconds. */
  now(): number
  log: Logger
  /** Deliveries became due. */
  onGiven(): void
}

export interface Turns {
  /** The next delivery of these lines may have its turn now, or once the floor has reached its place. */
  ask(lines: Line[]): void
  /** Looks at all lines soon. */
  sweep(): void
  close(): Promise<void>
}

const linesAtOnce = 1_000
/** More are left to the sweep. */
const maxAsked = 20_000
/** What another replica left behind is seen at least so often. */
const sweepEveryMs = 10_000
const floorWaitMs = { least: 20, most: 1_000 }
const beginning: Line = { webhookId: '', key: '' }

/**
 * Gives deliveries that are sent in order their turns: see ADR 016. Whoever finishes a delivery, or adds one, asks for
 * its line; a sweep over all lines finds what was not asked for, as after a crash.
 */
export function startTurns(options: TurnsOptions): Turns {
  const { sql, now, log } = options
  const asked = new Map<string, Line>()
  let closed = false
  let pause = new AbortController()
  let floor = ''
  let floorAt = 0
  let asking = false
  let floorWait = floorWaitMs.least
  let sweepAt = 0
  let swept = beginning
  let failed = false

  const isReady = ({ place }: Line) => place === undefined || place <= floor

  /** Of a line that is asked for twice, the earlier place counts. */
  function add(line: Line) {
    const name = `${line.webhookId} ${line.key}`
    const known = asked.get(name)
    if (known && (known.place ?? '') <= (line.place ?? '')) return
    if (known || asked.size < maxAsked) asked.set(name, line)
  }

  /** Not waited for: turns below the floor known so far can be given while the server does not answer. */
  function raiseFloor() {
    if (asking || now() < floorAt || [...asked.values()].every(isReady)) return
    asking = true
    void options
      .floor()
      .then(
        (raised) => {
          floorWait = raised > floor ? floorWaitMs.least : Math.min(floorWait * 2, floorWaitMs.most)
          if (raised > floor) floor = raised
        },
        (error: unknown) => {
          log.debug({ err: error }, 'how far events are fanned out cannot be asked')
          floorWait = floorWaitMs.most
        },
      )
      .then(() => {
        asking = false
        floorAt = now() + floorWait
        pause.abort()
      })
  }

  function take({ given, above }: Given) {
    for (const line of above) add(line)
    if (given > 0) options.onGiven()
  }

  async function giveAsked() {
    for (;;) {
      const ready = [...asked].filter(([, line]) => isReady(line)).slice(0, linesAtOnce)
      if (ready.length === 0) return
      for (const [name] of ready) asked.delete(name)
      const lines = ready.map(([, line]) => line)
      take(await giveTurns(sql, lines, floor))
    }
  }

  async function sweepSome() {
    const began = now()
    if (began < sweepAt) return
    const step = await sweepTurns(sql, swept, linesAtOnce, floor)
    take(step)
    swept = step.last ?? beginning
    // Between the steps of a long sweep there is time for what is asked for, and for others.
    sweepAt = now() + (step.last ? 4 * (now() - began) : sweepEveryMs)
  }

  async function look() {
    try {
      raiseFloor()
      await giveAsked()
      await sweepSome()
      failed = false
    } catch (error) {
      if (!failed) log.warn({ err: error }, 'turns cannot be given')
      failed = true
      sweepAt = now() + sweepEveryMs
    }
  }

  async function run() {
    while (!closed) {
      pause = new AbortController()
      await look()
      // After a failure what is asked for is not tried again at once.
      const next = asked.size > 0 && !asking && !failed ? Math.min(sweepAt, floorAt) : sweepAt
      await delay(Math.max(0, next - now()), pause.signal)
      // What is asked for in one turn of the event loop shares a statement.
      await new Promise<void>((turn) => setImmediate(turn))
    }
  }

  const running = run()
  return {
    ask(lines) {
      for (const line of lines) add(line)
      // Lines that are new bring the next question forward.
      if (!lines.every(isReady)) {
        floorWait = floorWaitMs.least
        floorAt = Math.min(floorAt, now() + floorWait)
      }
      pause.abort()
    },
    sweep() {
      sweepAt = Math.min(sweepAt, now())
      pause.abort()
    },
    async close() {
      closed = true
      pause.abort()
      await running
    },
  }
}
