import { redactedValue } from '@opsplane/contracts'

/** Shorter ones are found in too much that is no secret. */
const shortestSecret = 4
/** Shorter values stay in responses that code computes with: they may be data, and no echo. */
const shortestEcho = 12

/** Cleans one text; `cutOff` tells that it goes on, so that a part of a secret at its end counts as well. */
export type Redact = (text: string, cutOff?: boolean) => string

/**
 * Replaces every secret value in what an endpoint answered by `***`, also as JSON, URLs, base64 and hex have it.
 */
export function createRedaction(secrets: readonly string[]): Redact {
  const values = [...new Set(secrets)].filter((secret) => secret.length >= shortestSecret)
  // The longest first: what is left of it once a shorter one in it is replaced would not be found.
  const spellings = values.flatMap(spellingsOf).sort((a, b) => b.length - a.length)
  return (text, cutOff = false) => {
    let redacted = text
    for (const spelling of spellings) redacted = redacted.replaceAll(spelling, redactedValue)
    return cutOff ? withoutPart(redacted, spellings) : redacted
  }
}

/** For responses that code computes with: an endpoint that echoes secrets does not reveal them to users who only know their names. */
export const createEchoRedaction = (secrets: readonly string[]): Redact =>
  createRedaction(secrets.filter((secret) => secret.length >= shortestEcho))

/** Those secrets that a text has, however it spells them. */
export const secretsFoundIn = (text: string, secrets: Iterable<string>): string[] =>
  [...new Set(secrets)].filter((secret) => createRedaction([secret])(text) !== text)

/** The texts that stand for a value. */
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

/** The part of a value's base64 that is the same whatever stands around it, with so many bytes before (modulo 3). */
function base64Within(bytes: Buffer, before: number): string {
  const text = Buffer.concat([Buffer.alloc(before), bytes])
    .toString('base64')
    .replace(/=+$/, '')
  const first = before === 0 ? 0 : before + 1
  const last = (before + bytes.length) % 3 === 0 ? text.length : text.length - 1
  return text.slice(first, last)
}

function withoutPart(text: string, spellings: readonly string[]): string {
  const longest = spellings.reduce((most, spelling) => Math.max(most, partAtEnd(text, spelling)), 0)
  return longest < shortestSecret ? text : text.slice(0, -longest) + redactedValue
}

/** How much of the beginning of `spelling`, short of all of it, `text` ends with. One pass: both may be long. */
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

/** Of each beginning of a text: how much of it, short of all, it also ends with. */
function endsWithin(text: string): Uint32Array {
  const ends = new Uint32Array(text.length)
  for (let at = 1, matched = 0; at < text.length; at++) {
    while (matched > 0 && text.charCodeAt(matched) !== text.charCodeAt(at)) matched = ends[matched - 1] ?? 0
    if (text.charCodeAt(matched) === text.charCodeAt(at)) matched++
    ends[at] = matched
  }
  return ends
}
