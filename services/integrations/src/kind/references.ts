import { invalidField, referencedSecrets, secretReference } from '@opsplane/contracts'
import { jsonPointer } from '@opsplane/http'

/** The secrets that texts in a value refer to, with their paths. */
export function findReferences(
  value: unknown,
  path: readonly string[] = [],
): { name: string; path: readonly string[] }[] {
  if (typeof value === 'string') return referencedSecrets(value).map((name) => ({ name, path }))
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) => findReferences(inner, [...path, key]))
}

/** Throws `validation_failed` if a text below `/config` contains `{{ }}` around anything but a reference. */
export function refuseStrayBraces(value: unknown, path = '/config'): void {
  if (typeof value === 'string') {
    if (!/\{\{|\}\}/.test(value.replaceAll(secretReference, ''))) return
    throw invalidField(
      path,
      'not_a_reference',
      'May use {{ }} for references of the form {{secrets.name}} only.',
    )
  }
  if (typeof value !== 'object' || value === null) return
  for (const [key, inner] of Object.entries(value)) refuseStrayBraces(inner, path + jsonPointer([key]))
}
