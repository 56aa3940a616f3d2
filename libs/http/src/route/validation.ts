import { ApiError, type ErrorDetail, issueMessage } from '@opsplane/contracts'
import type { z } from 'zod'

type Issue = z.core.$ZodIssue
type Place = ErrorDetail['in']

/** Maximum reported problems: otherwise a body of one megabyte could produce a response of ten. */
export const maxDetails = 100

/**
 * Parses one part of a request and appends its problems to `details`, so that all parts are reported together. Collects
 * at most one problem more than is reported.
 */
export function parsePart(schema: z.ZodType, value: unknown, place: Place, details: ErrorDetail[]): unknown {
  const result = schema.safeParse(value, { error: issueMessage })
  if (result.success) return result.data
  for (const issue of result.error.issues) {
    if (details.length > maxDetails) break
    details.push(...issueDetails(issue, place, value).slice(0, maxDetails + 1 - details.length))
  }
  return undefined
}

/** Parses a body field whose schema depends on other data. Throws `validation_failed` with paths below the field. */
export function parseField<Schema extends z.ZodType>(
  schema: Schema,
  field: string,
  value: unknown,
): z.output<Schema> {
  const result = schema.safeParse(value, { error: issueMessage })
  if (result.success) return result.data
  const details = result.error.issues.flatMap((issue) => issueDetails(issue, 'body', value))
  throw validationFailed(details.map((detail) => ({ ...detail, path: `/${field}${detail.path}` })))
}

export function validationFailed(found: ErrorDetail[]): ApiError {
  const details = found.slice(0, maxDetails)
  const [first] = details
  const places = found.length > details.length ? `more than ${maxDetails}` : details.length
  const message =
    details.length === 1 && first
      ? `The request is not valid: ${[first.in, first.path, first.message].filter(Boolean).join(' ')}.`
      : `The request is not valid in ${places} places.`
  return new ApiError('validation_failed', message, { details })
}

/**
 * Maximum reported characters of a key: a response names up to a hundred places,
 * each possibly below a key of a megabyte.
 */
const maxKeyLength = 200

/** `/a/b~1c` for ['a', 'b/c']; the whole value is ''. Long keys are truncated. */
export function jsonPointer(path: readonly PropertyKey[]): string {
  return path
    .map((part) => `/${String(part).slice(0, maxKeyLength).replaceAll('~', '~0').replaceAll('/', '~1')}`)
    .join('')
}

function issueDetails(issue: Issue, place: Place, value: unknown, at: PropertyKey[] = []): ErrorDetail[] {
  const path = [...at, ...issue.path]
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.slice(0, maxDetails + 1).map((key) => ({
      in: place,
      path: jsonPointer([...path, key]),
      code: 'unrecognized_key',
      message:
        place === 'query' && path.length === 0
          ? 'is not a parameter of this operation'
          : 'is not a known field',
    }))
  }
  if (issue.code === 'invalid_union') {
    const branch = nearestBranch(issue.errors)
    if (branch) return branch.flatMap((inner) => issueDetails(inner, place, value, path))
  }
  if (missingCodes.has(issue.code) && valueAt(value, path) === undefined) {
    return [{ in: place, path: jsonPointer(path), code: 'required', message: 'is required' }]
  }
  const params = issueParams(issue)
  return [
    {
      in: place,
      path: jsonPointer(path),
      code: issue.code,
      message: issue.message,
      ...(params && { params }),
    },
  ]
}

/** Issue codes a schema reports for a missing value. */
const missingCodes = new Set<Issue['code']>(['invalid_type', 'invalid_value', 'invalid_union'])

/** The branch of a union whose type matches and whose fields have the fewest problems. */
function nearestBranch(branches: Issue[][]): Issue[] | undefined {
  const fitting = branches.filter(
    (issues) => issues.length > 0 && issues.every(({ path }) => path.length > 0),
  )
  return fitting.sort((a, b) => a.length - b.length)[0]
}

const notParams = new Set([
  'code',
  'path',
  'message',
  'input',
  'inst',
  'continue',
  'errors',
  'issues',
  'note',
  'pattern',
  'options',
  'discriminator',
])

function issueParams(issue: Issue): Record<string, unknown> | undefined {
  const entries = Object.entries(issue.code === 'custom' ? (issue.params ?? {}) : issue).filter(
    ([name, value]) => !notParams.has(name) && isPlain(value),
  )
  return entries.length > 0 ? Object.fromEntries(entries) : undefined
}

function isPlain(value: unknown): boolean {
  return Array.isArray(value) ? value.every(isPlain) : ['string', 'number', 'boolean'].includes(typeof value)
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (inner, key) =>
      inner !== null && typeof inner === 'object' && Object.hasOwn(inner, key)
        ? Reflect.get(inner, key)
        : undefined,
    value,
  )
}
