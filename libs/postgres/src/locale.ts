import type postgres from 'postgres'

/** LC_CTYPEs that support letters beyond ASCII, by platform: glibc and musl, macOS, old distributions. */
export const unicodeCtypes = ['C.UTF-8', 'UTF-8', 'en_US.UTF-8'] as const

/**
 * Whether the database supports letters beyond ASCII. Tests both `lower`, which may use another locale provider,
 * and the text parser, which, like trigrams, always uses LC_CTYPE.
 */
export async function hasUnicodeLocale(sql: postgres.Sql): Promise<boolean> {
  const [row] = await sql<{ knows: boolean }[]>`
    select lower('Ж') = 'ж' and to_tsvector('simple', '«Ж»') @@ 'ж'::tsquery as knows`
  return row?.knows ?? false
}

export const asciiLocaleWarning =
  'The LC_CTYPE of this database is C, which knows the letters of ASCII only: in other scripts, search finds words in the ' +
  'very same case alone, and no misspelt ones. Create it with LC_CTYPE C.UTF-8 and restore a dump: docs/operations.md.'
