import { promisify } from 'node:util'
import { constants, crc32, deflateRaw } from 'node:zlib'
import { z } from 'zod'
import { FileLimitError } from './writer.js'

const deflate = promisify(deflateRaw)

const Entry = z.object({
  name: z.string(),
  crc: z.number(),
  bytes: z.number(),
  compressed: z.number(),
  offset: z.number(),
})
type Entry = z.infer<typeof Entry>

/** State needed to continue an archive in another process. */
export const ZipState = z.object({ offset: z.number(), done: z.array(Entry), open: Entry.nullable() })
export type ZipState = z.infer<typeof ZipState>

/** Writes an archive sequentially. Each call returns the bytes that follow. */
export interface ZipWriter {
  /** Starts an entry; no other entry may be open. */
  begin(name: string): Buffer
  add(text: string): Promise<Buffer>
  /** Ends the open entry. */
  finish(): Buffer
  /** Returns the central directory, after the last entry. */
  end(): Buffer
  state(): ZipState
}

/** Maximum offset and size in an archive without the zip64 extension. */
const maxBytes = 0xffff_ffff
/** Flags: sizes and checksum follow the data; names are UTF-8. */
const flags = 0x0808
const version = 20
const deflated = 8
/** The earliest date of the format: files with equal rows are identical. */
const dosDate = 0x0021

/**
 * Each piece is compressed separately and ends on a byte boundary, so that pieces can be joined, including those of
 * another process. Throws `FileLimitError` at 4 GiB.
 */
export function zipWriter(state: ZipState = { offset: 0, done: [], open: null }): ZipWriter {
  const done = [...state.done]
  let open = state.open && { ...state.open }
  let offset = state.offset
  const emit = (bytes: Buffer): Buffer => {
    offset += bytes.length
    if (offset > maxBytes || (open?.bytes ?? 0) > maxBytes)
      throw new FileLimitError('The file would be larger than the 4 GiB that the format has room for.')
    return bytes
  }
  const currentEntry = (): Entry => {
    if (!open) throw new Error('No entry of the archive is open.')
    return open
  }

  return {
    begin(name) {
      open = { name, crc: 0, bytes: 0, compressed: 0, offset }
      return emit(Buffer.concat([localHeader(name), Buffer.from(name)]))
    },
    async add(text) {
      const entry = currentEntry()
      const bytes = Buffer.from(text)
      const piece = await deflate(bytes, { level: 1, finishFlush: constants.Z_SYNC_FLUSH })
      entry.crc = crc32(bytes, entry.crc)
      entry.bytes += bytes.length
      entry.compressed += piece.length
      return emit(piece)
    },
    finish() {
      const entry = currentEntry()
      entry.compressed += lastBlock.length
      const bytes = emit(Buffer.concat([lastBlock, descriptor(entry)]))
      done.push(entry)
      open = null
      return bytes
    },
    end() {
      const start = offset
      const directory = Buffer.concat(done.map(directoryEntry))
      return Buffer.concat([emit(directory), emit(directoryEnd(done.length, directory.length, start))])
    },
    state: () => ({ offset, done: [...done], open: open && { ...open } }),
  }
}

/** An empty block marked as the last one. */
const lastBlock = Buffer.from([0x03, 0x00])

function localHeader(name: string): Buffer {
  const header = Buffer.alloc(30)
  header.writeUInt32LE(0x04034b50, 0)
  header.writeUInt16LE(version, 4)
  header.writeUInt16LE(flags, 6)
  header.writeUInt16LE(deflated, 8)
  header.writeUInt16LE(dosDate, 12)
  header.writeUInt16LE(Buffer.byteLength(name), 26)
  return header
}

function descriptor({ crc, compressed, bytes }: Entry): Buffer {
  const descriptor = Buffer.alloc(16)
  descriptor.writeUInt32LE(0x08074b50, 0)
  descriptor.writeUInt32LE(crc, 4)
  descriptor.writeUInt32LE(compressed, 8)
  descriptor.writeUInt32LE(bytes, 12)
  return descriptor
}

function directoryEntry({ name, crc, compressed, bytes, offset }: Entry): Buffer {
  const header = Buffer.alloc(46)
  header.writeUInt32LE(0x02014b50, 0)
  header.writeUInt16LE(version, 4)
  header.writeUInt16LE(version, 6)
  header.writeUInt16LE(flags, 8)
  header.writeUInt16LE(deflated, 10)
  header.writeUInt16LE(dosDate, 14)
  header.writeUInt32LE(crc, 16)
  header.writeUInt32LE(compressed, 20)
  header.writeUInt32LE(bytes, 24)
  header.writeUInt16LE(Buffer.byteLength(name), 28)
  header.writeUInt32LE(offset, 42)
  return Buffer.concat([header, Buffer.from(name)])
}

function directoryEnd(entries: number, bytes: number, offset: number): Buffer {
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50, 0)
  end.writeUInt16LE(entries, 8)
  end.writeUInt16LE(entries, 10)
  end.writeUInt32LE(bytes, 12)
  end.writeUInt32LE(offset, 16)
  return end
}
