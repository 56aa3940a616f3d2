import type { ArtifactPermissions, HostFunctionName } from '@opsplane/contracts'

/** The permissions of a manifest by which each host function may be called. */
const granting: Record<HostFunctionName, readonly (keyof ArtifactPermissions)[]> = {
  api: ['api'],
  http: ['http'],
  connector: ['connectors'],
  secret: ['secrets', 'secretsPlain'],
  table: ['tables'],
  publish: ['topics'],
}

/** What the code of an artifact finds on its `host`, by what its manifest declares: functions, and those that say what is missing. */
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
