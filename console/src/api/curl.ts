import type { Place } from '../place/place.js'

/** An API request that the page shows so that users can send it by hand. */
export interface ShownRequest {
  method?: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** Path relative to the origin, such as `/api/v1/webhooks`. */
  path: string
  query?: Record<string, string | readonly string[] | undefined>
  body?: unknown
}

/** Formats the request as a curl command. The token is a shell variable, because the page does not know any token. */
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

/** Quotes a text for a POSIX shell, in which no character within single quotes is special. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`
