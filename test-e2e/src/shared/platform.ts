import { fileURLToPath } from 'node:url'
import { bootstrapOwner, type LocalInfo } from '@opsplane/local'
import { startedForRun, uniquePrefix } from '@opsplane/testing'
import type { TestCluster } from '../platform.js'

const program = fileURLToPath(new URL('./host.js', import.meta.url))

/** What test files need to know of a platform that they share. */
export type Shared = Pick<TestCluster, 'info' | 'secrets' | 'certificate'> & { settingsUrl: string }

/** A workspace of its own on the platform that the test files of this run share, for those that take nothing of it down. */
export interface SharedPlatform {
  info: LocalInfo
  /** Of its receivers. */
  certificate: TestCluster['certificate']
  /** One more workspace, with a key of its owner. */
  another(): Promise<{ workspace: string; apiKey: string }>
}

/** Joins the platform of the run; whoever comes first starts it, and it ends with the run. */
export async function joinPlatform(): Promise<SharedPlatform> {
  const { info, secrets, certificate, settingsUrl } = JSON.parse(
    await startedForRun('platform', program),
  ) as Shared
  const { origin, password } = info
  const another = () => {
    const workspace = uniquePrefix()
    const owner = { workspace, email: `owner@${workspace}.example.com`, password }
    return bootstrapOwner({ secrets: { ...secrets, owner }, settingsUrl, origin })
  }
  return { info: { ...info, ...(await another()) }, certificate, another }
}
