import type postgres from 'postgres'
import { openClient } from './database.js'

/**
 * What tells letters from other signs and large ones from small ones, by the names machines have for it: glibc and musl,
 * macOS, old distributions.
 */
export const unicodeCtypes = ['C.UTF-8', 'UTF-8', 'en_US.UTF-8'] as const

/**
 * Whether the database knows letters beyond ASCII. Both are asked for, as `lower` may follow another provider than the
 * parser of texts and the trigrams, which follow LC_CTYPE always.
 */
export async function knowsAllLetters(sql: postgres.Sql): Promise<boolean> {
  const [row] = await sql<{ knows: boolean }[]>`
    select lower('Ж') = 'ж' and to_tsvector('simple', '«Ж»') @@ 'ж'::tsquery as knows`
  return row?.knows ?? false
}

export const asciiLettersOnly =
  'This database knows the letters of ASCII only (LC_CTYPE C): in other scripts, search finds words in the very same ' +
  'case alone, and no misspelt ones. To change it: opsplane fold-case; "Operations" in README.md says more.'

/** Why the letters of a database stay as they are. */
export class LettersError extends Error {}

interface Locale {
  name: string
  encoding: string
  collates: string
  ctype: string
}

export interface Learnt {
  changed: boolean
  /** Schemas of rows that hold words, which are to be made anew. */
  schemas: string[]
}

/**
 * Gives a database that was made with LC_CTYPE C another one, and ends its other sessions, which go on with the old one
 * otherwise. Needs a superuser. Texts sort as before, so indexes by order stay right; what was made of the letters in rows
 * (words, trigrams) does not. Safe to repeat, also after a failure in between. Throws LettersError.
 */
export async function learnAllLetters(
  adminUrl: string,
  ctypes: readonly string[] = unicodeCtypes,
): Promise<Learnt> {
  const sql = openClient(adminUrl, { schema: 'pg_catalog', max: 1, applicationName: 'opsplane-letters' })
  try {
    const changed = !(await knowsAllLetters(sql))
    if (changed) await changeCtype(sql, ctypes)
    await endOtherSessions(sql)
    const rows = await sql<{ schema: string }[]>`
      select distinct n.nspname as schema from pg_attribute a
      join pg_class c on c.oid = a.attrelid join pg_namespace n on n.oid = c.relnamespace
      where a.atttypid = 'tsvector'::regtype and c.relkind = 'r' and n.nspname !~ '^pg_' order by 1`
    return { changed, schemas: rows.map(({ schema }) => schema) }
  } finally {
    await sql.end({ timeout: 5 })
  }
}

async function changeCtype(sql: postgres.Sql, ctypes: readonly string[]): Promise<void> {
  const [locale] = await sql<Locale[]>`
    select datname as name, pg_encoding_to_char(encoding) as encoding, datctype as ctype,
           case datlocprovider when 'i' then 'ICU' else datcollate end as collates
    from pg_database where datname = current_database()`
  if (locale === undefined || !isPlain(locale))
    throw new LettersError(`This is for the locale C in UTF8 only, not ${JSON.stringify(locale)}.`)
  const ctype = await firstKnown(sql, ctypes)
  if (ctype === undefined)
    throw new LettersError(`The machine of Postgres has no locale ${ctypes.join(', ')}.`)
  // As pg_upgrade does. There is no statement for it: Postgres cannot know what was made of the letters.
  await sql`update pg_database set datctype = ${ctype} where datname = ${locale.name}`
}

/** Those that began after this was called know the letters. */
async function endOtherSessions(sql: postgres.Sql): Promise<void> {
  const [{ now } = { now: '' }] = await sql<{ now: string }[]>`select clock_timestamp()::text as now`
  const others = sql`
    from pg_stat_activity where datname = current_database() and backend_type = 'client backend'
    and pid <> pg_backend_pid() and backend_start <= ${now}::text::timestamptz`
  await sql`select pg_terminate_backend(pid, 5000) ${others}`
  const left = await sql<{ pid: number }[]>`select pid ${others}`
  if (left.length > 0)
    throw new LettersError(
      `Sessions do not end: ${left.map(({ pid }) => pid).join(', ')}. End them and try again.`,
    )
}

/** Any other collation may sort by what LC_CTYPE says. */
function isPlain({ encoding, collates, ctype }: Locale): boolean {
  return encoding === 'UTF8' && [collates, ctype].every((name) => name === 'C' || name === 'POSIX')
}

async function firstKnown(sql: postgres.Sql, ctypes: readonly string[]): Promise<string | undefined> {
  for (const ctype of ctypes) {
    try {
      await sql.unsafe(
        `create collation pg_temp.${probe} (provider = libc, lc_collate = 'C', lc_ctype = '${ctype}')`,
      )
      await sql.unsafe(`drop collation pg_temp.${probe}`)
      return ctype
    } catch (error) {
      if (!/could not create locale/.test(String(error))) throw error
    }
  }
  return undefined
}

const probe = 'opsplane_probe'
