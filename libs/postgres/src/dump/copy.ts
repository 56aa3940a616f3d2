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

interface WrittenFile {
  bytes: number
  /** SHA-256 of the file, in hex. */
  sha256: string
}

interface CopiedTable extends WrittenFile {
  rows: number
  /** Size of the rows before compression. */
  plainBytes: number
}

const placeOf = ({ schema, name, columns }: DumpedTable) =>
  `${quoteIdentifier(schema)}.${quoteIdentifier(name)} (${columns.map(quoteIdentifier).join(', ')})`

/** Computes size and hash of a file while it is streamed. */
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
/** Number of bytes compressed at a time. */
const gatheredBytes = 256 * 1_024

/**
 * Counts rows while they are streamed: in COPY's text format a line feed ends each row and does not occur
 * elsewhere.
 */
function rowCounter() {
  const totals = { rows: 0, plainBytes: 0 }
  const through = async function* (source: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
    for await (const chunk of source) {
      totals.plainBytes += chunk.length
      for (let at = chunk.indexOf(lineFeed); at >= 0; at = chunk.indexOf(lineFeed, at + 1)) totals.rows++
      yield chunk
    }
  }
  return { through, counted: totals }
}

/**
 * Writes a table's rows, as visible in the transaction of `sql`, to a new compressed file in the text format of
 * COPY, which every version of Postgres reads. `sql` must be a dedicated connection. Only data in transit is in
 * memory.
 */
export async function copyOut(sql: postgres.Sql, table: DumpedTable, file: string): Promise<CopiedTable> {
  const columns = placeOf(table)
  const rows: Readable = await sql.unsafe(`copy ${columns} to stdout`).readable()
  const counter = rowCounter()
  const digest = fileDigest()
  await pipeline(
    rows,
    // The client emits one chunk per row. Processing a chunk costs every downstream step, compression above all, as
    // much as processing many rows joined together.
    (source: AsyncIterable<Buffer>) => counter.through(joinChunks(source, gatheredBytes)),
    createGzip({ level: constants.Z_BEST_SPEED, chunkSize: 65_536 }),
    digest.through,
    createWriteStream(file, { flags: 'wx', mode: 0o600, flush: true }),
  )
  // The client pauses reading from the server when much data arrives, and resumes when more is requested. After the
  // last row nothing requests more, although the end of the statement may not have been read yet.
  rows._read(0)
  return { ...digest.written(), ...counter.counted }
}

/** The server rejected rows, and the client has no further information: the server's log has the reason. */
class CopyRefusedError extends Error {}

/** Reads such a file into the same columns, within a transaction on `sql`. Rejects if a row is rejected. */
export async function copyIn(sql: postgres.Sql, table: DumpedTable, file: string): Promise<void> {
  const rows: Writable = await sql.unsafe(`copy ${placeOf(table)} from stdin`).writable()
  const plain = createGunzip()
  const sent = once(plain, 'end')
  const finished = pipeline(createReadStream(file), plain, rows)
  // An error after the last row is not reported here; the next statement then fails, because its transaction has
  // failed.
  const probe = sent.then(() => sql.unsafe('select 1'))
  probe.catch(() => {})
  const rejection = probe.then(
    () => finished,
    (error: unknown) => {
      throw new CopyRefusedError(`${table.schema}.${table.name} does not take the rows of ${file}`, {
        cause: error,
      })
    },
  )
  // `finished` alone ends with what the client has received, and never settles if the server has stopped reading.
  await Promise.all([finished, rejection])
}
