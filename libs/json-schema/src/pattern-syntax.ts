/** The expression is not supported; the message is the reason. */
export class PatternRefused extends Error {}

/** Maximum number of steps of an expression with its repetitions expanded. The cost of reading it is proportional to them. */
const maxSteps = 10_000
/** Limit of RE2. */
const maxRepeats = 1_000
/** Each Unicode property adds hundreds of character ranges. */
const stepsOfProperty = 50

const escaped = String.raw`\\(?:u\{[\da-f]+\}|ud[89ab][\da-f]{2}\\ud[c-f][\da-f]{2}|u[\da-f]{4}|x[\da-f]{2}|p\{[^}]*\}|k<[^>]*>|[1-9]\d*|c[a-z]|.)`
const group = String.raw`\((?:\?(?:<[^>=!]+>|<?.))?`
const repetition = String.raw`[*+?]\??|\{\d+(?:,\d*)?\}\??`
const tokens = new RegExp(String.raw`${escaped}|\[(?:\\.|[^\]\\])*\]|${group}|${repetition}|.`, 'gisu')
const classTokens = new RegExp(`${escaped}|.`, 'gisu')

const spaces = String.raw`\x{9}-\x{d}\x{20}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}`
const notSpaces =
  String.raw`\x{0}-\x{8}\x{e}-\x{1f}\x{21}-\x{9f}\x{a1}-\x{167f}\x{1681}-\x{1fff}\x{200b}-\x{2027}` +
  String.raw`\x{202a}-\x{202e}\x{2030}-\x{205e}\x{2060}-\x{2fff}\x{3001}-\x{fefe}\x{ff00}-\x{10ffff}`
const anything = String.raw`\x{0}-\x{10ffff}`
const controls = new Map(Object.entries({ 0: 0, t: 9, n: 10, v: 11, f: 12, r: 13 }))
/** General categories with the same characters in both standards; others contain unassigned characters. */
const category = /^(?:L[ultmo]?|M[nce]?|N[dlo]?|P[cdseifo]?|S[mcko]?|Z[slp]?)$/

/**
 * Translates an ECMAScript expression with the flag `u` to RE2 syntax, in which dots, white space, empty classes and
 * escapes differ. Groups do not capture, because their content is never used. Throws PatternRefused.
 */
export function toRe2(source: string): { written: string; steps: number } {
  const sizes = [0]
  let last = 0
  let written = ''
  const add = (steps: number) => {
    last = steps
    const size = (sizes.pop() ?? 0) + steps
    if (size > maxSteps)
      throw new PatternRefused(`has more than ${maxSteps} steps with its repetitions written out`)
    sizes.push(size)
  }
  for (const token of source.match(tokens) ?? []) {
    const times = /^(?:[*+?]|\{(\d+)(,?)(\d*)\})(\??)$/.exec(token)
    if (token.startsWith('(')) {
      written += groupOf(token)
      sizes.push(1)
    } else if (token === ')') {
      written += token
      add(sizes.pop() ?? 0)
    } else if (times) {
      const [, least, comma = '', most = '', lazy] = times
      written += least === undefined ? token : `{${count(least)}${comma}${most && count(most)}}${lazy}`
      add(last * Math.max(0, Number(most || least || 1) - 1))
    } else {
      written += termOf(token)
      add(stepsOf(token))
    }
  }
  return { written, steps: sizes[0] ?? 0 }
}

const stepsOf = (token: string): number => {
  if (token.startsWith('[') && token.length > 1)
    return (token.slice(1, -1).match(classTokens) ?? []).reduce((sum, atom) => sum + stepsOf(atom), 1)
  if (/^\\p/i.test(token)) return stepsOfProperty
  return /^\\s/i.test(token) ? 10 : 1
}

function count(digits: string): number {
  if (Number(digits) > maxRepeats) throw new PatternRefused(`repeats more than ${maxRepeats} times`)
  return Number(digits)
}

function groupOf(token: string): string {
  if (token === '(' || token === '(?:' || token.endsWith('>')) return '(?:'
  throw new PatternRefused('looks ahead or behind, or changes flags, which takes more than linear time')
}

function termOf(token: string): string {
  if (token === '^' || token === '$' || token === '|') return token
  if (token === '.') return String.raw`[^\n\r\x{2028}\x{2029}]`
  if (token.startsWith('[')) return classOf(token.slice(1, -1))
  if (token === '\\b' || token === '\\B') return token
  if (token === '\\s') return `[${spaces}]`
  if (token === '\\S') return `[^${spaces}]`
  return token.startsWith('\\') ? escapeOf(token) : literal(token.codePointAt(0))
}

function classOf(body: string): string {
  const negated = body.startsWith('^')
  const atoms = (negated ? body.slice(1) : body).match(classTokens) ?? []
  if (atoms.length === 0) return negated ? `[${anything}]` : `[^${anything}]`
  let written = ''
  for (let at = 0; at < atoms.length; at++) {
    const [atom = '', dash, end] = atoms.slice(at, at + 3)
    written += atomOf(atom)
    if (dash !== '-' || end === undefined) continue
    written += `-${atomOf(end)}`
    at += 2
  }
  return `[${negated ? '^' : ''}${written}]`
}

function atomOf(token: string): string {
  if (token === '\\b') return literal(8)
  if (token === '\\s') return spaces
  if (token === '\\S') return notSpaces
  return token.startsWith('\\') ? escapeOf(token) : literal(token.codePointAt(0))
}

/** RE2 equivalent of an escape, inside and outside of classes. */
function escapeOf(token: string): string {
  const name = token.charAt(1)
  if ('dDwW'.includes(name)) return token
  if (name === 'k' || /[1-9]/.test(name))
    throw new PatternRefused('refers back to a group, which takes more than linear time')
  if (name === 'p' || name === 'P') return propertyOf(token)
  if (name === 'c') return literal(token.charCodeAt(2) % 32)
  if (name !== 'u' && name !== 'x') return literal(controls.get(name) ?? token.codePointAt(1))
  const [first = 0, second] = Array.from(token.matchAll(/[\da-f]{2,}/gi), ([digits]) =>
    Number.parseInt(digits, 16),
  )
  return literal(second === undefined ? first : String.fromCharCode(first, second).codePointAt(0))
}

function propertyOf(token: string): string {
  const [, letter, key, value = ''] = /^\\(p)\{(?:(\w+)=)?(\w+)\}$/i.exec(token) ?? []
  const isScript = key === 'Script' || key === 'sc'
  if (letter !== undefined && (isScript || (key === undefined && category.test(value))))
    return `\\${letter}{${value}}`
  throw new PatternRefused(
    'asks for another property of characters than a general category (Lu) or a script (Script=Greek)',
  )
}

const literal = (codePoint = 0) => `\\x{${codePoint.toString(16)}}`
