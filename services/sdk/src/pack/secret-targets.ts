import { manifestFile, type PackProblem, type SecretTarget } from '@opsplane/contracts'
import { jsonPointer, type SavingMeta, type SecretTargets } from '@opsplane/http'
import type { PackArtifact } from '@opsplane/pack-format'

type Asking = Pick<PackArtifact, 'permissions'>

/** The secrets that artifacts name in the manifest, with the hosts they declare for them. */
export const listSecretTargets = (artifacts: readonly Asking[]): (SecretTarget & { path: string })[] =>
  artifacts.flatMap(({ permissions: { secrets, secretsPlain, http } }, index) => {
    const at = (list: string, position: number) =>
      jsonPointer(['artifacts', index, 'permissions', list, position])
    // Of every host there is the code chooses, among those that the secret lists.
    const hosts = http.includes('*') ? [] : http
    return [
      ...secrets.map((name, position) => ({ name, hosts, path: at('secrets', position) })),
      // A value that the code reads may go anywhere.
      ...secretsPlain.map((name, position) => ({ name, hosts: ['*'], path: at('secretsPlain', position) })),
    ]
  })

/** The secrets of artifacts that are not there, or that serve none of their hosts: another environment may have them later. */
export async function findSecretWarnings(
  secretTargets: Pick<SecretTargets, 'check'>,
  artifacts: readonly Asking[],
  meta: SavingMeta,
): Promise<PackProblem[]> {
  const found = await secretTargets.check(meta, listSecretTargets(artifacts))
  return found.map(({ target: { path }, code, message }) => ({
    ...{ file: manifestFile, path, line: null, column: null, code, message },
  }))
}
