/** A string, a word or number, or a sign of structure; what is between them is space. */
const token = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g

/**
 * A JSON text on lines, indented by two spaces. Its tokens stay as they came, so that no digit of a number changes. Undefined
 * for what is no object or array, such as a page of HTML.
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

/** A JSON text in pieces, by what each of them is. Together they are the text again. */
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

/** The spaces a line begins with. */
export const countIndent = (line: string): number => line.length - line.trimStart().length

const mostUnbroken = 64

/** Whether a string is to stay on one line, such as an id or a time. */
export const isUnbroken = (text: string): boolean => text.length <= mostUnbroken && !/\s/.test(text)
