import { type ArtifactRule, ValidationResult } from '@opsplane/contracts'

/** What the code of a validation was given, as far as its result goes by it. */
const recordsIn = (input: unknown): number =>
  typeof input === 'object' && input !== null && 'records' in input && Array.isArray(input.records)
    ? input.records.length
    : 0

/** Why an output is not what a validation gives; undefined where it is, and for artifacts that are none. */
export function findValidationFault(
  rule: ArtifactRule | null | undefined,
  { input, output }: { input: unknown; output: unknown },
): string | undefined {
  if (!rule?.validates) return undefined
  const { data, error } = ValidationResult.safeParse(output)
  if (error) {
    const [issue] = error.issues
    return `/${issue?.path.join('/') ?? ''} ${issue?.message}`
  }
  const beyond = data.faults.findIndex(({ index }) => index >= recordsIn(input))
  return beyond === -1 ? undefined : `/faults/${beyond}/index is no record of the input`
}
