import type { PlatformCaller } from '@opsplane/http'
import type { HostContext } from './host-call.js'

/** In whose name an artifact calls the platform: that of whoever installed it, as part of its execution. */
export const platformCaller = ({
  artifact,
  executionId,
  depth,
  key,
  timeoutMs,
  signal,
}: HostContext): PlatformCaller => ({
  ...{ grant: artifact.grant, key, timeoutMs, signal, causationId: executionId, causationDepth: depth },
})
