import { fileURLToPath } from 'node:url'
import type { ServiceName } from '@opsplane/contracts'
import { bootstrapOwner, type LocalInfo } from '@opsplane/local'
import { startedForRun, uniquePrefix } from '@opsplane/testing'
import type { TestCluster } from '../platform.js'

const program = fileURLToPath(new URL('./host.js', import.meta.url))

/** What test files need to know of a platform that they share. */
export type Shared = Pick<TestCluster, 'info' | 'secrets' | 'certificate'> & {
  /** Of each service, as the others call it. */
  urls: Record<ServiceName, string>
  /** Both origins of a second gateway, as people use them: localhost, and apps at one of their own. */
  origins: { main: string; apps: string }
}

/** Of loopback addresses, which the platform may call otherwise. */
export const deniedCidr = '127.0.0.9/32'

/** A workspace of its own on the platform that the test files of this run share, for those that take nothing of it down. */
export interface SharedPlatform {
  info: LocalInfo
  /** As services call each other, and with what. */
  urls: Shared['urls']
  secrets: Shared['secrets']
  origins: Shared['origins']
  /** Who operates the installation, and their own workspace. */
  operator: Pick<LocalInfo, 'email' | 'password' | 'workspace'>
  /** Of its receivers. */
  certificate: TestCluster['certificate']
  /** One more workspace, with a key of its owner. */
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
