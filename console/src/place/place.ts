import type { Environment } from '@opsplane/client'

/** Workspace and environment: they are in the address of every page, so that links and tabs keep them. */
export interface Place {
  workspace: string
  environment: Environment
}

export const environments = ['production', 'staging', 'development'] as const satisfies Environment[]

export const isEnvironment = (text: string): text is Environment =>
  environments.some((environment) => environment === text)

const key = 'opsplane-place'

/** Where this browser was last, for an address that names no place. */
export function rememberedPlace(storage: Pick<Storage, 'getItem'>): Place | undefined {
  const [workspace = '', environment = ''] = (storage.getItem(key) ?? '').split('/')
  return workspace !== '' && isEnvironment(environment) ? { workspace, environment } : undefined
}

export function rememberPlace(storage: Pick<Storage, 'setItem'>, { workspace, environment }: Place): void {
  storage.setItem(key, `${workspace}/${environment}`)
}

/** An address of the console to continue at after signing in; any other one leads to the start. */
export function ownAddress(address: string | undefined): string {
  // Two slashes, and a backslash as browsers read it, begin the name of another host.
  if (address === undefined || !/^\/(?![/\\])/.test(address) || address.includes('\\')) return '/'
  return /^\/sign-in(?!\/)/.test(address) ? '/' : address
}
