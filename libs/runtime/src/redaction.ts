import { redactedValue } from '@opsplane/contracts'

/** Shorter secrets would match too much harmless text. */
const shortestSecret = 4
/**
 * Shorter values are not redacted in responses that code computes with: they may be data instead of an echoed
 * secret.
 */
const shortestEcho = 12

/** Redacts one text; `cutOff` means that the text continues, so that a part of a secret at its end is redacted too. */
export type Redact = (text: string, cutOff?: boolean) => string

/** Replaces every secret value in an endpoint's response by `***`, also in its JSON, URL, base64 and hex encodings. */
export function createRedaction(secrets: readonly string[]): Redact {
  const values = [...new Set(secrets)].filter((secret) => secret.length >= shortestSecret)
  // Longest first: if a shorter one inside it were replaced first, the rest of the longer one would not be found.
  const spellings = values.flatMap(spellingsOf).sort((a, b) => b.length - a.length)
  return (text, cutOff = false) => {
    let redacted = text
    for (const spelling of spellings) redacted = redacted.replaceAll(spelling, redactedValue)
    return cutOff ? withoutPart(redacted, spellings) : redacted
  }
}

/**
 * For responses that code computes with: an endpoint that echoes secrets must not reveal them to users who know
 * only their names.
 */
export const createEchoRedaction = (secrets: readonly string[]): Redact =>
  createRedaction(secrets.filter((secret) => secret.length >= shortestEcho))

/** The secrets that occur in a text in any encoding. */
export const secretsFoundIn = (text: string, secrets: Iterable<string>): string[] =>
  [...new Set(secrets)].filter((secret) => createRedaction([secret])(text) !== text)

/** The encodings of a value. */
function spellingsOf(value: string): string[] {
  const bytes = Buffer.from(value)
  const hex = bytes.toString('hex')
  const base64 = [0, 1, 2].map((before) => base64Within(bytes, before))
  const inJson = JSON.stringify(value).slice(1, -1)
  const spellings = [
    value,
    inJson,
    JSON.stringify(inJson).slice(1, -1),
    encodeURIComponent(bytes.toString()),
    hex,
    hex.toUpperCase(),
    ...base64,
    ...base64.map((text) => text.replaceAll('+', '-').replaceAll('/', '_')),
  ]
  return [...new Set(spellings)].filter((spelling) => spelling.length >= shortestSecret)
}

/**
 * The part of a value's base64 that does not depend on the surrounding bytes, with `before` bytes before it
 * (modulo 3).
 */
function base64Within(bytes: Buffer, before: number): string {
  const text = Buffer.concat([Buffer.alloc(before), bytes])
    .toString('base64')
    .replace(/=+$/, '')
  const first = before === 0 ? 0 : before + 1
  const last = (before + bytes.length) % 3 === 0 ? text.length : text.length - 1
  return text.slice(first, last)
}

function withoutPart(text: string, spellings: readonly string[]): string {
  const longest = spellings.reduce((max, spelling) => Math.max(max, partAtEnd(text, spelling)), 0)
  return longest < shortestSecret ? text : text.slice(0, -longest) + redactedValue
}

/**
 * Length of the longest proper prefix of `spelling` that `text` ends with. Takes one pass, because both may be
 * long.
 */
function partAtEnd(text: string, spelling: string): number {
  const ends = endsWithin(spelling)
  let matched = 0
  for (let at = Math.max(0, text.length - spelling.length + 1); at < text.length; at++) {
    const next = text.charCodeAt(at)
    while (matched > 0 && spelling.charCodeAt(matched) !== next) matched = ends[matched - 1] ?? 0
    if (spelling.charCodeAt(matched) === next) matched++
  }
  return matched
}

/** For each prefix of a text: the length of its longest proper prefix that is also its suffix. */
function endsWithin(text: string): Uint32Array {
  const ends = new Uint32Array(text.length)
  for (let at = 1, matched = 0; at < text.length; at++) {
    while (matched > 0 && text.charCodeAt(matched) !== text.charCodeAt(at)) matched = ends[matched - 1] ?? 0
    if (text.charCodeAt(matched) === text.charCodeAt(at)) matched++
    ends[at] = matched
  }
  return ends
}
