/** A string, a word or number, or a structural character; only white space lies between tokens. */
const token = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g

/**
 * Formats JSON with an indentation of two spaces. The tokens are unchanged, so no digit of a number is lost. `undefined`
 * if the text is not an object or array, for example an HTML page.
 */
export function indentedJson(text: string): string | undefined {
  if (!isStructure(text)) return undefined
  const tokens = text.match(token) ?? []
  let out = ''
  let depth = 0
  const line = () => `\n${'  '.repeat(depth)}`
  tokens.forEach((each, index) => {
    const previous = tokens[index - 1]
    if (each === '}' || each === ']') {
      depth--
      out += previous === '{' || previous === '[' ? each : line() + each
      return
    }
    if (previous === '{' || previous === '[' || previous === ',') out += line()
    out += each === ':' ? ': ' : each
    if (each === '{' || each === '[') depth++
  })
  return out
}

function isStructure(text: string): boolean {
  if (!/^\s*[{[]/.test(text)) return false
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

export type JsonPart = 'key' | 'string' | 'number' | 'word' | 'plain'

const part = /("(?:[^"\\]|\\.)*")(?=\s*:)|("(?:[^"\\]|\\.)*")|(-?\d[\d.eE+-]*)|(\btrue\b|\bfalse\b|\bnull\b)/g
const kinds = ['key', 'string', 'number', 'word'] as const

/** Splits JSON into typed tokens, which concatenate to the original text. */
export function jsonParts(text: string): [kind: JsonPart, text: string][] {
  const parts: [JsonPart, string][] = []
  let end = 0
  for (const match of text.matchAll(part)) {
    if (match.index > end) parts.push(['plain', text.slice(end, match.index)])
    const kind = kinds.find((_, index) => match[index + 1] !== undefined) ?? 'plain'
    parts.push([kind, match[0]])
    end = match.index + match[0].length
  }
  if (end < text.length) parts.push(['plain', text.slice(end)])
  return parts
}

/** Number of leading spaces of a line. */
export const countIndent = (line: string): number => line.length - line.trimStart().length

const maxUnbrokenLength = 64

/** Whether a string, such as an id or a time, must stay on one line. */
export const isUnbroken = (text: string): boolean => text.length <= maxUnbrokenLength && !/\s/.test(text)
