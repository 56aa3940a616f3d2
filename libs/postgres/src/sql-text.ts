/** A name as it may stand in a statement. */
export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`

/** A text as it may stand in a statement that takes no parameters. */
export const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`
