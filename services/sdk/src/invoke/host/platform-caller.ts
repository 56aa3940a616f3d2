import type { PlatformCaller } from '@opsplane/http'
import type { HostContext } from './host-call.js'

/**
 * In whose name an artifact calls the platform: that of the person who installed it, as part of its execution, narrowed by the
 * rights and the row rules of its callers.
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
