import type { AppDefinition, EmbedTokenState, TenantScope } from '@opsplane/contracts'
import type { PlatformCaller } from '@opsplane/http'
import type { StoredContents } from '../deployment/contents.js'
import type { StoredDeployment } from '../deployment/domain.js'
import type { CompiledSources } from './compiled.js'

/** A deployment and its current user: everything a request to it depends on. */
export interface DeploymentUse {
  deployment: StoredDeployment
  contents: StoredContents['contents']
  sources: CompiledSources
  tenant: TenantScope
  user: AppDefinition['user']
  /** What narrows it where it is embedded. */
  embed: EmbedTokenState | null
  /** In whose name the platform is called; `key` tells repetitions of one effect. */
  caller(key: string): Promise<PlatformCaller>
}

/** What expressions of data sources see in addition to their parameters. */
export const buildScope = ({ user, embed }: DeploymentUse, params: Record<string, unknown>) => ({
  params,
  user,
  embed: embed && { id: embed.id, rowFilter: embed.rowFilter, user: embed.user },
})
