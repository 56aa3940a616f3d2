/** SQL for a text without accents in lower case, so that `muller` is a substring of `Müller`. */
export const foldedSql = (text: string): string => `studio.folded(${text})`
