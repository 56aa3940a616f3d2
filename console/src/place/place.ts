import type { Environment } from '@opsplane/client'

/** Workspace and environment. They are part of every page's URL, so that links and tabs keep them. */
export interface Place {
  workspace: string
  environment: Environment
}

export const environments = ['production', 'staging', 'development'] as const satisfies Environment[]

export const isEnvironment = (text: string): text is Environment =>
  environments.some((environment) => environment === text)

const key = 'opsplane-place'

/** The last place of this browser, for URLs without a place. */
export function rememberedPlace(storage: Pick<Storage, 'getItem'>): Place | undefined {
  const [workspace = '', environment = ''] = (storage.getItem(key) ?? '').split('/')
  return workspace !== '' && isEnvironment(environment) ? { workspace, environment } : undefined
}

export function rememberPlace(storage: Pick<Storage, 'setItem'>, { workspace, environment }: Place): void {
  storage.setItem(key, `${workspace}/${environment}`)
}

/** Returns `address` if it belongs to the console; any other address becomes `/`. Used after a sign-in. */
export function ownAddress(address: string | undefined): string {
  // Two slashes, or a backslash, which browsers treat as a slash, would start the name of another host.
  if (address === undefined || !/^\/(?![/\\])/.test(address) || address.includes('\\')) return '/'
  return /^\/sign-in(?!\/)/.test(address) ? '/' : address
}
