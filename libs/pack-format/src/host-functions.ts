import type { ArtifactPermissions, HostFunctionName } from '@opsplane/contracts'

/** The manifest permissions of which at least one allows a host function. */
const granting: Record<HostFunctionName, readonly (keyof ArtifactPermissions)[]> = {
  api: ['api'],
  http: ['http'],
  connector: ['connectors'],
  secret: ['secrets', 'secretsPlain'],
  table: ['tables'],
  publish: ['topics'],
}

/**
 * The host functions of an artifact by its declared permissions: the available ones, and the refused ones with a message
 * that names the missing permission.
 */
export function resolveHostFunctions(permissions: ArtifactPermissions): {
  functions: HostFunctionName[]
  refused: Record<string, string>
} {
  const names = Object.keys(granting) as HostFunctionName[]
  const has = (name: HostFunctionName) =>
    granting[name].some((permission) => Object.keys(permissions[permission]).length > 0)
  const reasons = names.filter((name) => !has(name)).map((name) => [name, reasonOf(name)])
  return { functions: names.filter(has), refused: Object.fromEntries(reasons) }
}

const reasonOf = (name: HostFunctionName) => {
  const fields = granting[name].map((permission) => `permissions.${permission}`).join(' or ')
  return `The artifact has not declared host.${name}: name what it may use in ${fields} of the manifest.`
}
