import { OutboundError, type OutboundErrorKind } from '@opsplane/http'
import { CallFailure, type FailureKind } from './call-failure.js'

const kinds: Record<OutboundErrorKind, FailureKind> = {
  ...{ blocked_address: 'blocked', dns: 'unreachable', connect: 'unreachable', tls: 'unreachable' },
  ...{ timeout: 'timeout', reset: 'unreachable', protocol: 'protocol' },
}

/** What the guard says of a connection it could not open, on which nothing was sent; undefined for anything else. */
export function toConnectFailure(error: unknown): CallFailure | undefined {
  if (!(error instanceof OutboundError)) return undefined
  const { kind, message } = error
  return new CallFailure(kinds[kind], message, {
    sent: kind === 'reset' || kind === 'protocol',
    cause: error,
  })
}
