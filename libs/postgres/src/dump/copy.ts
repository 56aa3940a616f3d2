import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createReadStream, createWriteStream } from 'node:fs'
import { type Readable, Transform, type Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { constants, createGunzip, createGzip } from 'node:zlib'
import { joinChunks } from '@opsplane/runtime'
import type postgres from 'postgres'
import { quoteIdentifier } from '../sql-text.js'
import type { DumpedTable } from './catalogue.js'

/** A file as it was written. */
interface WrittenFile {
  bytes: number
  /** Of the file, in hex. */
  sha256: string
}

interface CopiedTable extends WrittenFile {
  rows: number
  /** Of the rows, before they are compressed. */
  plainBytes: number
}

const placeOf = ({ schema, name, columns }: DumpedTable) =>
  `${quoteIdentifier(schema)}.${quoteIdentifier(name)} (${columns.map(quoteIdentifier).join(', ')})`

/** Takes the file as it passes. */
export function fileDigest() {
  const hash = createHash('sha256')
  let bytes = 0
  const through = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk)
      bytes += chunk.length
      done(null, chunk)
    },
  })
  return { through, written: (): WrittenFile => ({ bytes, sha256: hash.digest('hex') }) }
}

const lineFeed = 10
/** Compressed at a time. */
const gatheredBytes = 256 * 1_024

/** Counts rows as they pass: in COPY's text format a line feed ends one and stands nowhere else. */
function rowCounter() {
  const counted = { rows: 0, plainBytes: 0 }
  const through = async function* (source: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
    for await (const chunk of source) {
      counted.plainBytes += chunk.length
      for (let at = chunk.indexOf(lineFeed); at >= 0; at = chunk.indexOf(lineFeed, at + 1)) counted.rows++
      yield chunk
    }
  }
  return { through, counted }
}

/**
 * Writes the rows of a table, as the transaction of `sql` sees them, to a new compressed file in the text format of COPY,
 * which every version of Postgres reads. `sql` is one connection of its own. In memory is what is on its way.
 */
export async function copyOut(sql: postgres.Sql, table: DumpedTable, file: string): Promise<CopiedTable> {
  const columns = placeOf(table)
  const rows: Readable = await sql.unsafe(`copy ${columns} to stdout`).readable()
  const counter = rowCounter()
  const digest = fileDigest()
  await pipeline(
    rows,
    // The client makes a chunk of each row, which by itself costs every stream behind as much as many do, the compression most.
    (source: AsyncIterable<Buffer>) => counter.through(joinChunks(source, gatheredBytes)),
    createGzip({ level: constants.Z_BEST_SPEED, chunkSize: 65_536 }),
    digest.through,
    createWriteStream(file, { flags: 'wx', mode: 0o600, flush: true }),
  )
  // The client stops reading from the server where much arrives at once, and resumes when it is asked for more; nothing asks
  // once the last row is there, though the end of the statement may not have been read yet.
  rows._read(0)
  return { ...digest.written(), ...counter.counted }
}

/** Rows that were sent were not taken, and the client knows no more of it: the server's log says why. */
class CopyRefusedError extends Error {}

/** Reads such a file back, into the same columns, within a transaction on `sql`. Rejects where a row is refused. */
export async function copyIn(sql: postgres.Sql, table: DumpedTable, file: string): Promise<void> {
  const rows: Writable = await sql.unsafe(`copy ${placeOf(table)} from stdin`).writable()
  const plain = createGunzip()
  const sent = once(plain, 'end')
  const finished = pipeline(createReadStream(file), plain, rows)
  // An error after the last row is not reported here; the next statement fails then, as its transaction has.
  const answered = sent.then(() => sql.unsafe('select 1'))
  answered.catch(() => {})
  const refused = answered.then(
    () => finished,
    (error: unknown) => {
      throw new CopyRefusedError(`${table.schema}.${table.name} does not take the rows of ${file}`, {
        cause: error,
      })
    },
  )
  // The first alone ends with what the client has seen, and waits for ever where the server has stopped reading.
  await Promise.all([finished, refused])
}
