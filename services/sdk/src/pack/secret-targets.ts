import { manifestFile, type PackProblem, type SecretTarget } from '@opsplane/contracts'
import { jsonPointer, type SavingMeta, type SecretTargets } from '@opsplane/http'
import type { PackArtifact } from '@opsplane/pack-format'

type WithPermissions = Pick<PackArtifact, 'permissions'>

/** Secrets named in the manifest's artifacts, with the hosts declared for them. */
export const listSecretTargets = (
  artifacts: readonly WithPermissions[],
): (SecretTarget & { path: string })[] =>
  artifacts.flatMap(({ permissions: { secrets, secretsPlain, http } }, index) => {
    const at = (list: string, position: number) =>
      jsonPointer(['artifacts', index, 'permissions', list, position])
    // With a wildcard host the code chooses among the hosts of the secret.
    const hosts = http.includes('*') ? [] : http
    return [
      ...secrets.map((name, position) => ({ name, hosts, path: at('secrets', position) })),
      // A value read by the code may be sent anywhere.
      ...secretsPlain.map((name, position) => ({ name, hosts: ['*'], path: at('secretsPlain', position) })),
    ]
  })

/**
 * Warnings about secrets that do not exist or are not allowed for any declared host; they may still be created, for
 * example in another environment.
 */
export async function findSecretWarnings(
  secretTargets: Pick<SecretTargets, 'check'>,
  artifacts: readonly WithPermissions[],
  meta: SavingMeta,
): Promise<PackProblem[]> {
  const found = await secretTargets.check(meta, listSecretTargets(artifacts))
  return found.map(({ target: { path }, code, message }) => ({
    ...{ file: manifestFile, path, line: null, column: null, code, message },
  }))
}
