import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import postgres from 'postgres'

/** A plaintext found where it must not be. */
export interface FoundPlaintext {
  /** Name of the plaintext. */
  name: string
  form: string
  place: string
}

export interface PlaintextSearch {
  /** Searches some bytes; `place` describes their location. */
  look(place: string, bytes: Buffer): void
  found(): FoundPlaintext[]
  /** Number of plaintexts, of their encodings, and of bytes searched. */
  extent(): { plaintexts: number; forms: number; bytes: number }
}

/** Searches for plaintexts in every encoding they are likely to be written in. */
export function createPlaintextSearch(plaintexts: Record<string, string>): PlaintextSearch {
  const needles = Object.entries(plaintexts).flatMap(([name, plaintext]) =>
    Object.entries(listEncodings(plaintext)).map(([form, text]) => ({
      name,
      form,
      bytes: Buffer.from(text),
    })),
  )
  // Indexed by their first three bytes: each byte of the haystack is read once, whatever the number of needles.
  const byStart = new Map<number, typeof needles>()
  for (const needle of needles) {
    const start = needle.bytes.readUIntBE(0, 3)
    byStart.set(start, [...(byStart.get(start) ?? []), needle])
  }
  const starts = new Uint8Array(2 ** 24)
  for (const start of byStart.keys()) starts[start] = 1
  const finds = new Map<string, FoundPlaintext>()
  let byteCount = 0

  return {
    look(place, bytes) {
      byteCount += bytes.length
      let window = 0
      for (let index = 0; index < bytes.length; index++) {
        window = ((window << 8) | (bytes[index] ?? 0)) & 0xffffff
        if (index < 2 || starts[window] === 0) continue
        for (const { name, form, bytes: needle } of byStart.get(window) ?? []) {
          const begin = index - 2
          if (
            bytes.compare(needle, 0, needle.length, begin, Math.min(begin + needle.length, bytes.length)) ===
            0
          )
            finds.set(`${name}|${form}|${place}`, { name, form, place })
        }
      }
    },
    found: () => [...finds.values()],
    extent: () => ({ plaintexts: Object.keys(plaintexts).length, forms: needles.length, bytes: byteCount }),
  }
}

/** Encodings of a plaintext, without the parts that depend on adjacent bytes, such as the ends of its base64. */
export function listEncodings(plaintext: string): Record<string, string> {
  const bytes = Buffer.from(plaintext)
  const forms: Record<string, string> = { raw: plaintext, hex: bytes.toString('hex') }
  forms.HEX = bytes.toString('hex').toUpperCase()
  forms.json = JSON.stringify(plaintext).slice(1, -1)
  forms.jsonInJson = JSON.stringify(forms.json).slice(1, -1)
  forms.uri = encodeURIComponent(plaintext)
  for (const before of [0, 1, 2]) {
    const text = Buffer.concat([Buffer.alloc(before), bytes])
      .toString('base64')
      .replace(/=+$/, '')
    const inner = text.slice(
      before === 0 ? 0 : before + 1,
      (before + bytes.length) % 3 === 0 ? undefined : -1,
    )
    forms[`base64+${before}`] = inner
    forms[`base64url+${before}`] = inner.replaceAll('+', '-').replaceAll('/', '_')
  }
  const seen = new Set<string>()
  return Object.fromEntries(Object.entries(forms).filter(([, text]) => !seen.has(text) && seen.add(text)))
}

/**
 * Searches every column of every row of every table that is not a Postgres system table. Returns the number of rows
 * by table.
 */
export async function searchRows(
  search: PlaintextSearch,
  databaseUrl: string,
): Promise<Record<string, number>> {
  const sql = postgres(databaseUrl, { max: 1, onnotice: () => undefined })
  const counts: Record<string, number> = {}
  try {
    const tables = await sql<{ schema: string; name: string; columns: { name: string; bytes: boolean }[] }[]>`
      select n.nspname as schema, c.relname as name,
        json_agg(json_build_object('name', a.attname, 'bytes', a.atttypid = 'bytea'::regtype)) as columns
      from pg_class c join pg_namespace n on n.oid = c.relnamespace join pg_attribute a on a.attrelid = c.oid
      where c.relkind in ('r', 'p') and not c.relispartition and n.nspname !~ '^(pg_|information_schema)' and a.attnum > 0 and not a.attisdropped
      group by 1, 2 order by 1, 2`
    for (const { schema, name, columns } of tables) {
      const table = `${schema}.${name}`
      const shown = columns.map((column) =>
        column.bytes ? sql`${sql(column.name)}` : sql`${sql(column.name)}::text as ${sql(column.name)}`,
      )
      const list = shown.reduce((all, one) => sql`${all}, ${one}`)
      counts[table] = 0
      for await (const rows of sql`select ${list} from ${sql(schema)}.${sql(name)}`.cursor(500)) {
        counts[table] += rows.length
        const values = rows.flatMap((row) => Object.values(row as Record<string, string | Buffer | null>))
        for (const value of values) if (value !== null) search.look(table, Buffer.from(value))
      }
    }
    return counts
  } finally {
    await sql.end({ timeout: 5 })
  }
}

/** Searches every file below a folder, without the entries of the folder itself that are named in `except`. */
export function searchFiles(search: PlaintextSearch, folder: string, except: readonly string[] = []): void {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name)
    if (except.includes(name)) continue
    const stat = statSync(path)
    if (stat.isDirectory()) searchFiles(search, path)
    else if (stat.isFile()) search.look(path, readFileSync(path))
  }
}
