import type postgres from 'postgres'

/** LC_CTYPEs that know letters beyond ASCII, by the names machines have: glibc and musl, macOS, old distributions. */
export const unicodeCtypes = ['C.UTF-8', 'UTF-8', 'en_US.UTF-8'] as const

/**
 * Whether the database knows letters beyond ASCII. Both are asked for, as `lower` may follow another provider than the
 * parser of texts and the trigrams, which follow LC_CTYPE always.
 */
export async function hasUnicodeLocale(sql: postgres.Sql): Promise<boolean> {
  const [row] = await sql<{ knows: boolean }[]>`
    select lower('Ж') = 'ж' and to_tsvector('simple', '«Ж»') @@ 'ж'::tsquery as knows`
  return row?.knows ?? false
}

export const asciiLocaleWarning =
  'The LC_CTYPE of this database is C, which knows the letters of ASCII only: in other scripts, search finds words in the ' +
  'very same case alone, and no misspelt ones. Create it with LC_CTYPE C.UTF-8 and restore a dump: docs/operations.md.'
