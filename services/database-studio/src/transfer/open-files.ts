import type { Table } from '@opsplane/contracts'
import { LRUCache } from 'lru-cache'
import { batchRows, type FileForm, type FileRow, readRows } from './import-rows.js'
import type { ImportStore } from './import-store.js'

/** A file that is being read batch by batch. */
export interface OpenFile {
  /** The number of the next batch. */
  number: number
  /** Rows of the next batch; `undefined` at the end. Throws UnreadableFileError. */
  next(): Promise<readonly FileRow[] | undefined>
  /** Number of bytes read from the file. */
  bytes(): number
  close(): void
}

/**
 * Files kept open between slices on this replica, so that an import need not read its file
 * from the beginning again.
 */
export interface OpenFiles {
  /** Returns the file positioned at this batch or before it. */
  take(file: FileForm & { id: string; batches: number }, table: Table): OpenFile
  keep(id: string, table: Table, file: OpenFile): void
}

/** Each open file holds a part of its content and one batch in memory. */
const maxKept = 8

export function createOpenFiles(store: Pick<ImportStore, 'content'>): OpenFiles {
  const kept = new LRUCache<string, OpenFile>({
    max: maxKept,
    dispose: (file, _, reason) => {
      if (reason === 'evict') file.close()
    },
  })
  // The version is part of the key, because parsing of cells depends on the definition.
  const keyOf = (id: string, { id: table, version }: Table) => `${id}/${table}/${version}`

  return {
    take({ id, batches, ...form }, table) {
      const key = keyOf(id, table)
      const file = kept.get(key)
      kept.delete(key)
      return file && file.number <= batches ? file : openFile(store.content(id), form, table)
    },
    keep: (id, table, file) => void kept.set(keyOf(id, table), file),
  }
}

function openFile(content: AsyncIterable<Buffer>, form: FileForm, table: Table): OpenFile {
  let bytes = 0
  const countBytes = async function* () {
    for await (const part of content) {
      yield part
      bytes += part.length
    }
  }
  const batches = batchRows(readRows(form, table, countBytes()))[Symbol.asyncIterator]()
  return {
    number: 0,
    bytes: () => bytes,
    close: () => void batches.return?.(undefined),
    async next() {
      const { value, done } = await batches.next()
      if (done) return undefined
      this.number++
      return value
    },
  }
}
