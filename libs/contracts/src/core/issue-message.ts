import type { z } from 'zod'
import { ExactNumber, inexactNumber } from '../json/exact-json.js'

type RawIssue = z.core.$ZodRawIssue
type Expected = string

const kinds: Record<Expected, string> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  tuple: 'a list',
  object: 'an object',
  record: 'an object',
  null: 'null',
  date: 'a date',
}

const formats: Record<string, string> = {
  datetime: 'a date and time with a zone, such as 2026-03-02T10:00:00Z',
  date: 'a date, such as 2026-03-02',
  time: 'a time, such as 10:00:00',
  duration: 'an ISO 8601 duration, such as PT15M',
  email: 'an e-mail address',
  url: 'a URL',
  uuid: 'a UUID',
  ipv4: 'an IPv4 address',
  ipv6: 'an IPv6 address',
  base64: 'Base64',
  json_string: 'JSON',
}

/**
 * Message for an invalid value, worded to follow the field's name: "must be a string". For schemas without their own
 * message; passed to zod as `error` of a parse, it also words problems inside unions and keys.
 */
export function issueMessage(issue: RawIssue): string | undefined {
  if (isInexact(issue)) return inexactNumber
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${kinds[issue.expected] ?? issue.expected}`
    case 'invalid_value':
      return `must be ${alternatives(issue.values)}`
    case 'invalid_format':
      return formatMessage(issue)
    case 'too_small':
      return sizeMessage(issue.origin, Number(issue.minimum), bound(issue, 'at least', 'more than'))
    case 'too_big':
      return sizeMessage(issue.origin, Number(issue.maximum), bound(issue, 'at most', 'less than'))
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`
    case 'invalid_union':
      return unionMessage(issue)
    case 'invalid_key':
    case 'invalid_element':
      return issue.issues[0]?.message
    default:
      return undefined
  }
}

function formatMessage(issue: Extract<RawIssue, { code: 'invalid_format' }>): string {
  if (issue.format === 'starts_with') return `must start with ${quoted(issue.prefix)}`
  if (issue.format === 'ends_with') return `must end with ${quoted(issue.suffix)}`
  if (issue.format === 'includes') return `must contain ${quoted(issue.includes)}`
  const expectedFormat = formats[issue.format]
  return expectedFormat === undefined
    ? 'has not the form the API reference describes'
    : `must be ${expectedFormat}`
}

interface Bound {
  inclusive?: boolean | undefined
  exact?: boolean | undefined
}

const bound = ({ inclusive, exact }: Bound, within: string, exclusive: string): string => {
  if (exact) return 'exactly'
  return inclusive === false ? exclusive : within
}

/** Strings are measured in characters and lists in items; numbers are compared directly. */
function sizeMessage(origin: string, limit: number, comparison: string): string {
  const unit = units[origin]
  if (unit === undefined) return `must be ${comparison} ${limit}`
  if (comparison === 'at least' && limit === 1) return 'must not be empty'
  return `must have ${comparison} ${limit} ${limit === 1 ? unit : `${unit}s`}`
}

const units: Record<string, string> = {
  string: 'character',
  array: 'item',
  set: 'item',
  map: 'field',
  record: 'field',
  object: 'field',
  file: 'byte',
}

/** If no branch of the union matches, the message lists the types all branches expect. */
function unionMessage(issue: Extract<RawIssue, { code: 'invalid_union' }>): string {
  if ('options' in issue && Array.isArray(issue.options)) return `must be ${alternatives(issue.options)}`
  const branchMessages = issue.errors.flatMap((branch) =>
    branch.slice(0, 1).flatMap(({ path, message }) => (path.length === 0 ? [message] : [])),
  )
  const kindsOf = [...new Set(branchMessages)].flatMap((message) =>
    message.startsWith('must be ') ? [message.slice('must be '.length)] : [],
  )
  return kindsOf.length === 0 ? 'has none of the forms the API reference describes' : `must be ${or(kindsOf)}`
}

const maxNamed = 20

function alternatives(values: readonly unknown[]): string {
  const listedValues = values.slice(0, maxNamed).map(quoted)
  if (values.length === 1) return listedValues.join()
  return `one of ${listedValues.join(', ')}${values.length > maxNamed ? ', …' : ''}`
}

const quoted = (value: unknown): string => (typeof value === 'string' ? `"${value}"` : String(value))

const or = (texts: readonly string[]): string =>
  texts.length < 2 ? texts.join('') : `${texts.slice(0, -1).join(', ')} or ${texts.at(-1)}`

/** Whether a number was rejected only because a double cannot represent its digits. */
const isInexact = (issue: RawIssue): boolean =>
  issue.input instanceof ExactNumber &&
  (issue.code === 'invalid_union' ||
    (issue.code === 'invalid_type' && (issue.expected === 'number' || issue.expected === 'int')))
