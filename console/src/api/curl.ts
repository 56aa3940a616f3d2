import type { Place } from '../place/place.js'

/** A request of the API as one can send it by hand. */
export interface ShownRequest {
  method?: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** With what precedes it below the origin, such as `/api/v1/webhooks`. */
  path: string
  query?: Record<string, string | readonly string[] | undefined>
  body?: unknown
}

/** The same by curl. The token is a variable: a page never knows one. */
export function formatCurl(
  origin: string,
  place: Place,
  { method = 'GET', path, query = {}, body }: ShownRequest,
): string {
  const search = new URLSearchParams(
    Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])),
  ).toString()
  const lines = [
    `curl ${method === 'GET' ? '' : `-X ${method} `}${quoted(`${origin}${path}${search && `?${search}`}`)}`,
    '-H "Authorization: Bearer $OPSPLANE_TOKEN"',
    `-H ${quoted(`X-Workspace: ${place.workspace}`)}`,
    `-H ${quoted(`X-Environment: ${place.environment}`)}`,
    ...(body === undefined
      ? []
      : ["-H 'Content-Type: application/json'", `-d ${quoted(JSON.stringify(body))}`]),
  ]
  return lines.join(' \\\n  ')
}

/** For a POSIX shell, in which nothing within single quotes means anything. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`
