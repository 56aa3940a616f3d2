const types = ['feat', 'fix', 'refactor', 'perf', 'test', 'docs', 'build', 'ci', 'chore']
const form = new RegExp(String.raw`^(?:${types.join('|')})(?:\([\w-]+(?:, ?[\w-]+)*\))?!?: \S.*[^.\s]$`)
const maxLength = 72

/** What is wrong with the subject of a commit; undefined where nothing is. Git writes those of merges and reverts. */
export function subjectFault(subject: string): string | undefined {
  if (/^(?:Merge |Revert ")/.test(subject)) return undefined
  if (!form.test(subject))
    return `"${subject}" is not "type(scope): what it does", with a type of ${types.join(', ')}`
  if (subject.length > maxLength)
    return `"${subject}" has ${subject.length} characters instead of at most ${maxLength}`
  return undefined
}
