import { Socket } from 'node:net'
import type { Agent, buildConnector, Dispatcher } from 'undici'
import { undici } from '../calls/undici.js'

/** Durations of the phases of a request, in milliseconds. */
export interface OutboundTimings {
  /** `null` for an IP address, and for a reused connection. */
  dnsMs: number | null
  /** `null` for a reused connection, or if none was established. */
  connectMs: number | null
  /** As `connectMs`, and also `null` without TLS. */
  tlsMs: number | null
  /** From the established connection to the first byte of the response. */
  firstByteMs: number | null
  /** From before DNS to the end of the response, or to its failure. */
  totalMs: number
  /** `null` if no connection was established. */
  isConnectionReused: boolean | null
}

/** Timestamps of a connection attempt, in monotonic milliseconds. */
interface Dial {
  isTls: boolean
  startedAt: number
  resolvedAt?: number
  connectedAt?: number
  openedAt?: number
}

/** Records the timestamps of a connecting socket. */
export function followDial(socket: unknown, isTls: boolean): Dial {
  const dial: Dial = { isTls, startedAt: performance.now() }
  if (!(socket instanceof Socket)) return dial
  socket.once('lookup', () => {
    dial.resolvedAt = performance.now()
  })
  socket.once('connect', () => {
    dial.connectedAt = performance.now()
  })
  return dial
}

/** The phases of one request, passed to undici as its `opaque`. */
export class RequestPhases {
  readonly #startedAt = performance.now()
  #sentAt: number | undefined
  #earlier: Dial | undefined
  #dialled: () => Dial | undefined = () => undefined
  #answeredAt: number | undefined

  /** The request is sent by a client whose last connection is `dialled`; the last call wins. */
  sent(dialled: () => Dial | undefined): void {
    this.#sentAt = performance.now()
    this.#dialled = dialled
    this.#earlier = dialled()
  }

  answered(): void {
    this.#answeredAt = performance.now()
  }

  timings(): OutboundTimings {
    const dial = this.#dialled()
    const { startedAt, resolvedAt, connectedAt, openedAt, isTls = false } = dial ?? {}
    const isKept = dial !== undefined && dial === this.#earlier && openedAt !== undefined
    const own = <Value>(value: Value): Value | null => (isKept ? null : value)
    const waitedFrom = isKept ? this.#sentAt : openedAt
    return {
      dnsMs: own(between(startedAt, resolvedAt)),
      connectMs: own(between(resolvedAt ?? startedAt, connectedAt)),
      tlsMs: own(isTls ? between(connectedAt, openedAt) : null),
      firstByteMs: between(waitedFrom, this.#answeredAt),
      totalMs: Math.round(performance.now() - this.#startedAt),
      isConnectionReused: openedAt === undefined ? null : isKept,
    }
  }
}

const between = (from: number | undefined, to: number | undefined) =>
  from === undefined || to === undefined ? null : Math.max(0, Math.round(to - from))

/** undici's connector, which also reports the timestamps of each connection. */
export type MeasuredConnector = (
  options: buildConnector.Options,
  callback: buildConnector.Callback,
  dialled: (dial: Dial) => void,
) => void

/**
 * Options of an agent that measures requests whose `opaque` is a RequestPhases. Each
 * client has one connection at a time.
 */
export function measureConnector(connect: MeasuredConnector): Pick<Agent.Options, 'connect' | 'factory'> {
  const { Client, Pool } = undici()
  const openClient = (origin: string | URL, options: object) => {
    let last: Dial | undefined
    const client = new Client(origin, {
      ...options,
      connect: (to, callback) =>
        connect(to, callback, (dial) => {
          last = dial
        }),
    })
    const dispatch = client.dispatch.bind(client)
    client.dispatch = (request: Dispatcher.DispatchOptions & { opaque?: unknown }, handler) => {
      if (request.opaque instanceof RequestPhases) request.opaque.sent(() => last)
      return dispatch(request, handler)
    }
    return client
  }
  return {
    connect: (to, callback) => connect(to, callback, () => {}),
    // Same behavior as without measuring: a pool of one would reconnect for an aborted request.
    factory: (origin, options: Agent.Options) =>
      options.connections === 1
        ? openClient(origin, options)
        : new Pool(origin, { ...options, factory: openClient }),
  }
}
