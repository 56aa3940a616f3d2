/** A name as it may stand in a statement. */
export const quoteIdentifier = (name: string): string => `"${name.replaceAll('"', '""')}"`

/** A text as it may stand in a statement that takes no parameters. */
export const quoteLiteral = (text: string): string => `'${text.replaceAll("'", "''")}'`

/** An instant, as SQL, in the form in which the API shows it: ISO 8601 in UTC with milliseconds. */
export const isoText = (instant: string): string =>
  `to_char(${instant} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
