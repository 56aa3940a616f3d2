import type { PlatformCaller } from '@opsplane/http'
import type { HostContext } from './host-call.js'

/**
 * The identity under which an artifact calls the platform: that of its installer, as part of the execution, restricted
 * by the rights and row rules of the callers.
 */
export const platformCaller = ({
  artifact,
  caller,
  executionId,
  depth,
  key,
  timeoutMs,
  traceparent,
  signal,
}: HostContext): PlatformCaller => ({
  ...{
    grant: artifact.grant,
    key,
    timeoutMs,
    traceparent,
    signal,
    causationId: executionId,
    causationDepth: depth,
  },
  ...(caller && { callers: [...caller.people] }),
  ...(caller?.permissions && { permissions: [...caller.permissions] }),
})
