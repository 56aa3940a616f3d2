import type { PlatformCaller } from '@opsplane/http'
import type { HostContext } from './host-call.js'

/**
 * In whose name an artifact calls the platform: that of whoever installed it, as part of its execution, and with no more than
 * whoever has asked for it may do.
 */
export const platformCaller = ({
  artifact,
  permissions,
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
  ...(permissions && { permissions: [...permissions] }),
})
