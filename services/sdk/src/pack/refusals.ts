import {
  ApiError,
  type ArtifactPermissions,
  type ArtifactRule,
  type ArtifactUse,
  manifestFile,
  missingPermissionError,
  missingRights,
  type NeededRights,
  type PackProblem,
  type PackState,
} from '@opsplane/contracts'
import type { RequestMeta } from '@opsplane/http'
import { findMissingPermissions } from '@opsplane/pack-format'
import type { SubscriptionRules } from '@opsplane/service'

const maxDetails = 100

/** The error for a pack that cannot be installed: each problem with its location in the request. */
export function problemsFailure(problems: readonly PackProblem[], source: PackState['source']): ApiError {
  const count = problems.length === 1 ? 'a problem' : `${problems.length} problems`
  return new ApiError('validation_failed', `The pack has ${count}.`, {
    details: problems.slice(0, maxDetails).map(({ file, path, line, column, code, message }) => ({
      in: 'body' as const,
      path: bodyPath(source, file, path),
      ...{ code, message },
      params: { file, path, ...(line !== null && { line, column }) },
    })),
  })
}

function bodyPath(source: PackState['source'], file: string, path: string): string {
  if (source === 'tarball') return '/tarball'
  if (source !== 'inline') return '/available'
  if (file === manifestFile) return `/manifest${path}`
  return `/files/${file.replaceAll('~', '~0').replaceAll('/', '~1')}`
}

/** Throws `validation_failed` naming the requested permissions that are not granted. */
export function refuseNotGranted(
  requestedPermissions: ArtifactPermissions,
  grant: ArtifactPermissions,
): void {
  const missing = findMissingPermissions(requestedPermissions, grant)
  if (!missing) return
  const message = `The pack asks for what \`grant\` does not name: ${Object.keys(missing).join(', ')}.`
  throw new ApiError('validation_failed', message, {
    details: [
      {
        in: 'body',
        path: '/grant',
        code: 'not_granted',
        message,
        params: { asks: requestedPermissions, missing },
      },
    ],
  })
}

/** Throws `forbidden` naming missing rights: artifacts have no more rights than their installer. */
export function refuseMissingRights(userPermissions: readonly string[], needs: NeededRights): void {
  const missing = missingRights(userPermissions, needs)
  if (missing.length === 0) return
  const message = `Missing permissions for what the artifacts of this pack do: ${missing.join(', ')}.`
  throw missingPermissionError(message, missing)
}

/** Throws `forbidden` naming the row rules that hide from the caller the events its business rules react to. */
export async function refuseHidden(
  rules: SubscriptionRules,
  artifacts: readonly { rule: ArtifactRule | null }[],
  { principal, tenant }: Pick<RequestMeta, 'principal' | 'tenant'>,
): Promise<void> {
  for (const { rule } of artifacts) if (rule) await rules.require(principal, tenant, rule)
}

/** Throws `conflict` if artifacts to be removed are still in use. */
export function refuseUses(uses: readonly ArtifactUse[], how: string): void {
  if (uses.length === 0) return
  const message = `Still in use: ${uses
    .slice(0, 5)
    .map(({ artifact, kind, name }) => `${artifact} by the ${kind.replace('_', ' ')} ${name}`)
    .join(', ')}. ${how}`
  throw new ApiError('conflict', message, {
    details: uses.slice(0, maxDetails).map(({ artifact, kind, id, name }) => ({
      ...{ in: 'body' as const, path: '', code: 'in_use', message: `${artifact} is used by ${kind} ${id}.` },
      params: { artifact, kind, id, name },
    })),
  })
}
