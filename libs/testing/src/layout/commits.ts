const types = ['feat', 'fix', 'refactor', 'perf', 'test', 'docs', 'build', 'ci', 'chore']
const form = new RegExp(String.raw`^(?:${types.join('|')})(?:\([\w-]+(?:, ?[\w-]+)*\))?!?: \S.*[^.\s]$`)
const maxLength = 72

/**
 * Returns the fault of a commit subject; `undefined` if there is none. Git's own subjects
 * of merges and reverts are accepted.
 */
export function subjectFault(subject: string): string | undefined {
  if (/^(?:Merge |Revert ")/.test(subject)) return undefined
  if (!form.test(subject))
    return `"${subject}" is not "type(scope): what it does", with a type of ${types.join(', ')}`
  if (subject.length > maxLength)
    return `"${subject}" has ${subject.length} characters instead of at most ${maxLength}`
  return undefined
}
