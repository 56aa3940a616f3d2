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
  /** The restrictions of an embedded app; `null` if it is not embedded. */
  embed: EmbedTokenState | null
  /** The identity for calls to the platform; `key` identifies repetitions of one effect. */
  caller(key: string): Promise<PlatformCaller>
}

/** Variables of data source expressions in addition to their parameters. */
export const buildScope = ({ user, embed }: DeploymentUse, params: Record<string, unknown>) => ({
  params,
  user,
  embed: embed && { id: embed.id, rowFilter: embed.rowFilter, user: embed.user },
})
