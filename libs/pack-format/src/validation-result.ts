import { type ArtifactRule, ValidationResult } from '@opsplane/contracts'

/** Number of records in a validation's input. */
const recordsIn = (input: unknown): number =>
  typeof input === 'object' && input !== null && 'records' in input && Array.isArray(input.records)
    ? input.records.length
    : 0

/** Why an output is not a valid result of a validation; `undefined` if it is, and for artifacts that are not validations. */
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
  const faultIndex = data.faults.findIndex(({ index }) => index >= recordsIn(input))
  return faultIndex === -1 ? undefined : `/faults/${faultIndex}/index is no record of the input`
}
