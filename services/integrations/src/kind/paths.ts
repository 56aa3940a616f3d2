import { invalidField } from '@opsplane/contracts'
import { z } from 'zod'

const Scalar = z.union([z.string().max(8_192), z.number(), z.boolean()])
/** Query parameters of one invocation; a list repeats a parameter. */
export const InvocationQuery = z
  .record(z.string().min(1).max(200), z.union([Scalar, z.array(Scalar).max(200)]))
  .refine((query) => Object.keys(query).length <= 200, 'must be at most 200 parameters')
  .optional()

/**
 * The URL of a path below a base URL. Throws `validation_failed` at `/input/path` for a path that leaves the base
 * URL, in any encoding.
 */
export function urlBelow(baseUrl: string, path: string): URL {
  const base = new URL(baseUrl)
  const root = base.pathname.endsWith('/') ? base.pathname : `${base.pathname}/`
  if (/[?#]/.test(path)) throw pathNotAllowed('Must have no ? or #; parameters go into `query`.')
  const rest = path.replace(/^\/+/, '')
  const text = rest === '' ? `${base.origin}${base.pathname}` : `${base.origin}${root}${rest}`
  const url = URL.canParse(text) ? new URL(text) : undefined
  const within = url && (url.pathname.startsWith(root) || url.pathname === base.pathname)
  if (url?.origin !== base.origin || !within)
    throw pathNotAllowed('Must stay below the base URL of the connector.')
  // Some servers decode a path before they resolve its dot segments.
  if (/%(2f|5c)|(^|\/)(%2e|\.){2}(\/|$)/i.test(url.pathname) && decodedDots(url.pathname))
    throw pathNotAllowed('Must stay below the base URL of the connector.')
  return url
}

const pathNotAllowed = (message: string) => invalidField('/input/path', 'path_not_allowed', message)

function decodedDots(pathname: string): boolean {
  const decoded = pathname.replaceAll(/%2e/gi, '.').replaceAll(/%(2f|5c)/gi, '/')
  return /(^|\/)\.\.(\/|$)/.test(decoded)
}

/** Appends parameters to a URL, in order. */
export function addQuery(url: URL, query: z.output<typeof InvocationQuery>): void {
  for (const [name, value] of Object.entries(query ?? {}))
    for (const each of Array.isArray(value) ? value : [value]) url.searchParams.append(name, String(each))
}
