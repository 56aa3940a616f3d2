import { Socket } from 'node:net'
import type { Agent, buildConnector, Dispatcher } from 'undici'
import { undici } from '../calls/undici.js'

/** What a request took its time for, in milliseconds. */
export interface OutboundTimings {
  /** Null for an address, and for a connection that was there. */
  dnsMs: number | null
  /** Null for a connection that was there, or never was. */
  connectMs: number | null
  /** Null without TLS, too. */
  tlsMs: number | null
  /** From when there was a connection to the first byte of the answer. */
  firstByteMs: number | null
  /** From before DNS to the end of the answer, or to its failure. */
  totalMs: number
  /** Null where no connection was come to. */
  isConnectionReused: boolean | null
}

/** A connection as it is opened: monotonic milliseconds. */
interface Dial {
  isTls: boolean
  startedAt: number
  resolvedAt?: number
  connectedAt?: number
  openedAt?: number
}

/** Follows a socket that is being connected. */
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

/** The phases of one request, which its `opaque` leads to. */
export class RequestPhases {
  readonly #startedAt = performance.now()
  #sentAt: number | undefined
  #earlier: Dial | undefined
  #dialled: () => Dial | undefined = () => undefined
  #answeredAt: number | undefined

  /** It goes by a client whose last connection is `dialled`; the last call counts. */
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

/** undici's connector, which also hands over how each connection comes to be. */
export type MeasuredConnector = (
  options: buildConnector.Options,
  callback: buildConnector.Callback,
  dialled: (dial: Dial) => void,
) => void

/** Options of an agent whose requests have phases, where their `opaque` is one: each client has one connection at a time. */
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
    // As without measuring: a pool of one would connect again by itself for a request that was given up.
    factory: (origin, options: Agent.Options) =>
      options.connections === 1
        ? openClient(origin, options)
        : new Pool(origin, { ...options, factory: openClient }),
  }
}
