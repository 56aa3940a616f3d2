/** A name quoted for use in a statement. */
export const quoteIdentifier = (name: string): string => `"${name.replaceAll('"', '""')}"`

/** A text quoted for use in a statement without parameters. */
export const quoteLiteral = (text: string): string => `'${text.replaceAll("'", "''")}'`

/** SQL that formats an instant like the API: ISO 8601 in UTC with milliseconds. */
export const isoText = (instant: string): string =>
  `to_char(${instant} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
