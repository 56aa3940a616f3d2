import { OutboundError, type OutboundErrorKind } from '@opsplane/http'
import { CallFailure, type FailureKind } from './call-failure.js'

const kinds: Record<OutboundErrorKind, FailureKind> = {
  ...{ blocked_address: 'blocked', dns: 'unreachable', connect: 'unreachable', tls: 'unreachable' },
  ...{ timeout: 'timeout', reset: 'unreachable', protocol: 'protocol' },
}

/**
 * Converts an error of the outbound guard while opening a connection, before anything was sent; `undefined` for any
 * other error.
 */
export function toConnectFailure(error: unknown): CallFailure | undefined {
  if (!(error instanceof OutboundError)) return undefined
  const { kind, message } = error
  return new CallFailure(kinds[kind], message, {
    sent: kind === 'reset' || kind === 'protocol',
    cause: error,
  })
}
