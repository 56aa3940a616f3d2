/** Lines of a TypeScript source with code: neither blank nor only a comment. Lines of template literals count as well. */
export function codeLines(source: string): number {
  let inComment = false
  let count = 0
  for (const line of source.split('\n')) {
    let text = line.trim()
    if (inComment) {
      const end = text.indexOf('*/')
      if (end < 0) continue
      inComment = false
      text = text.slice(end + 2).trim()
    }
    if (text.startsWith('{/*') && text.endsWith('*/}')) continue
    while (text.startsWith('/*')) {
      const end = text.indexOf('*/', 2)
      inComment = end < 0
      text = inComment ? '' : text.slice(end + 2).trim()
    }
    if (text !== '' && !text.startsWith('//')) count++
  }
  return count
}

/** Whether a path counts: hand-written TypeScript that is neither a test, a fixture, the generated client nor the console. */
export const isCounted = (path: string): boolean =>
  /^(?:libs|services|cli|deploy|client)\/.+\.tsx?$/.test(path) &&
  !/\.(?:test|fixture|d)\.tsx?$|\/(?:fixtures?|generated|proof)\/|^libs\/testing\/|^client\//.test(path)

/** The package a path is in, such as `services/itsm`. */
export const packageName = (path: string): string =>
  path
    .split('/')
    .slice(0, /^(?:libs|services|deploy)\//.test(path) ? 2 : 1)
    .join('/')
