/** Compares two semantic versions by precedence: negative if the first is older. Both must be valid `PackVersion`s. */
export function compareVersions(left: string, right: string): number {
  const [a, b] = [partsOf(left), partsOf(right)]
  for (const [index, number] of a.core.entries()) {
    const order = number - (b.core[index] ?? 0)
    if (order !== 0) return order
  }
  if (a.pre.length === 0 || b.pre.length === 0) return b.pre.length - a.pre.length
  return comparePrereleases(a.pre, b.pre)
}

function partsOf(version: string) {
  const [core = '', ...pre] = version.split('-')
  const prerelease = pre.join('-')
  return { core: core.split('.').map(Number), pre: prerelease === '' ? [] : prerelease.split('.') }
}

/** Numbers precede words; numbers compare by value, words by character code; a prefix precedes a longer list. */
function comparePrereleases(a: readonly string[], b: readonly string[]): number {
  for (const [index, left] of a.entries()) {
    const right = b[index]
    if (right === undefined) return 1
    const [leftNumber, rightNumber] = [/^\d+$/.test(left), /^\d+$/.test(right)]
    if (leftNumber && rightNumber && Number(left) !== Number(right)) return Number(left) - Number(right)
    if (leftNumber !== rightNumber) return leftNumber ? -1 : 1
    if (left !== right) return left < right ? -1 : 1
  }
  return a.length - b.length
}
