import type { Deprecation, Route } from '../route/route.js'

/** The headers of RFC 9745 and RFC 8594 for responses of a deprecated route; `undefined` for other routes. */
export function deprecationHeaders({
  deprecated,
}: Pick<Route, 'deprecated'>): Record<string, string> | undefined {
  if (!deprecated) return undefined
  const { since, sunset, link } = deprecated
  return {
    Deprecation: `@${Math.floor(Date.parse(since) / 1000)}`,
    ...(sunset !== undefined && { Sunset: new Date(sunset).toUTCString() }),
    ...(link !== undefined && { Link: `<${link}>; rel="deprecation"; type="text/html"` }),
  }
}

/** Throws for invalid dates, and for a sunset before the deprecation. */
export function checkDeprecation(operationId: string, { since, sunset = since }: Deprecation): void {
  if (Date.parse(sunset) >= Date.parse(since)) return
  throw new Error(`${operationId}: "deprecated" needs dates, with the sunset not before it`)
}
