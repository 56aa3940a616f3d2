/** A text as SQL without its accents and in lower case, by which `muller` is a part of `Müller`. */
export const foldedSql = (text: string): string => `studio.folded(${text})`
