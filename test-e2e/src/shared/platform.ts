import { fileURLToPath } from 'node:url'
import type { ServiceName } from '@opsplane/contracts'
import { bootstrapOwner, type LocalInfo } from '@opsplane/local'
import { startedForRun, uniquePrefix } from '@opsplane/testing'
import type { TestCluster } from '../platform.js'

const program = fileURLToPath(new URL('./host.js', import.meta.url))

/** Data that test files need about a shared platform. */
export type Shared = Pick<TestCluster, 'info' | 'secrets' | 'certificate'> & {
  /** URL of each service, as other services use it. */
  urls: Record<ServiceName, string>
  /** Both origins of a second gateway, as users see them: localhost, and a separate one for apps. */
  origins: { main: string; apps: string }
}

/** A denied loopback address; the platform may call the others. */
export const deniedCidr = '127.0.0.9/32'

/** A new workspace on the platform shared by the test files of this run, for tests that stop none of its parts. */
export interface SharedPlatform {
  info: LocalInfo
  /** URLs that services use to call each other, and the secrets for it. */
  urls: Shared['urls']
  secrets: Shared['secrets']
  origins: Shared['origins']
  /** The operator of the installation, and the operator's workspace. */
  operator: Pick<LocalInfo, 'email' | 'password' | 'workspace'>
  /** Certificate of its receivers. */
  certificate: TestCluster['certificate']
  /** Creates another workspace, with a key of its owner. */
  another(): Promise<{ workspace: string; apiKey: string }>
}

/** Joins the platform of the run; the first test file starts it, and it ends with the run. */
export async function joinPlatform(): Promise<SharedPlatform> {
  const shared = JSON.parse(await startedForRun('platform', program)) as Shared
  const { info, secrets, urls } = shared
  const { origin, password } = info
  const another = () => {
    const workspace = uniquePrefix()
    const owner = { workspace, email: `owner@${workspace}.example.com`, password }
    return bootstrapOwner({ secrets: { ...secrets, owner }, settingsUrl: urls.settings, origin })
  }
  return { ...shared, info: { ...info, ...(await another()) }, operator: info, another }
}
