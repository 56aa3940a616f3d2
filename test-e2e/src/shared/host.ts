import { serveRun } from '@opsplane/testing'
import { startTestCluster } from '../platform.js'
import type { Shared } from './platform.js'

// Many strangers come from one address here, and the ends of connectors' outages are waited for.
const extra = { ANONYMOUS_RATE_LIMIT_PER_MINUTE: '100000', CONNECTOR_CHECK_SECONDS: '1' }

await serveRun(async () => {
  const { info, secrets, certificate, services, stop } = await startTestCluster({ extra })
  const shared: Shared = { info, secrets, certificate, settingsUrl: services.settings.url }
  return { handOver: JSON.stringify(shared), stop }
})
