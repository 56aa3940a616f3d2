import { backendNames, serviceNames } from '@opsplane/contracts'
import { freePort } from '@opsplane/runtime/server-process'
import { serveRun } from '@opsplane/testing'
import { startTestCluster } from '../platform.js'
import { deniedCidr, type Shared } from './platform.js'

// Many anonymous clients share one address here, and tests wait for the end of connectors' outages.
const extra = {
  ANONYMOUS_RATE_LIMIT_PER_MINUTE: '100000',
  ANONYMOUS_BYTES_PER_MINUTE: '0',
  CONNECTOR_CHECK_SECONDS: '1',
  // An address that the operator denies although loopback addresses are otherwise allowed.
  ...{ WEBHOOK_DENIED_CIDRS: deniedCidr, CONNECTOR_DENIED_CIDRS: deniedCidr },
  ...{ WORKFLOW_DENIED_CIDRS: deniedCidr, SDK_DENIED_CIDRS: deniedCidr },
}

await serveRun(async () => {
  const { info, secrets, certificate, services, replica, stop } = await startTestCluster({ extra })
  const urls = Object.fromEntries(serviceNames.map((name) => [name, services[name].url])) as Shared['urls']
  const port = await freePort()
  const origins = { main: `http://localhost:${port}`, apps: `http://apps.localhost:${port}` }
  // A replica of settings that creates links to this origin, and passkeys, which are bound to a host name.
  const settings = await replica('settings', { PUBLIC_ORIGIN: origins.main })
  const backends = Object.fromEntries(backendNames.map((name) => [name, urls[name]]))
  await replica('gateway', {
    ...{ PORT: String(port), PUBLIC_ORIGIN: origins.main, APPS_ORIGIN: origins.apps },
    SERVICE_URLS: JSON.stringify({ ...backends, settings: settings.url }),
  })
  const shared: Shared = { info, secrets, certificate, urls, origins }
  return { handOver: JSON.stringify(shared), stop }
})
