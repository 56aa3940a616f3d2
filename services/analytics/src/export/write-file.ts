import { createHash, type Hash } from 'node:crypto'
import { ApiError, type ExportFile } from '@opsplane/contracts'
import { collectYoungHeap, limitHeapGrowth, sha256Hex } from '@opsplane/runtime'
import { appendBytes, byteSink } from '../format/byte-sink.js'
import { contentTypes, openWriter } from '../format/formats.js'
import type { FormatWriter, WriterState } from '../format/writer.js'
import type { CompositePage, OpenedRows, RowPage } from '../query/types.js'
import type { ObjectStorage } from '../storage/object-storage.js'
import type { JobStore, LeasedJob, OpenedSource, Part, PartDone } from './job-store.js'
import { type PlannedExport, toFileName } from './plan.js'
import type { OpenOptions } from './rows.js'

/** A file with its progress so far. */
export interface FileJob extends LeasedJob {
  plan: PlannedExport
  cursor: string | null
  writer: WriterState | null
  opened: OpenedSource | null
  ended: boolean
  rows: number
}

export interface WriteFileOptions {
  store: JobStore
  storage: ObjectStorage
  partBytes: number
  /** Storage limit over all exports of the workspace in bytes; 0 for none. */
  maxBytes(workspaceId: string): number
  open(options: OpenOptions): Promise<OpenedRows>
  now: string
  signal: AbortSignal
  /**
   * The slice ends with the first part that finishes after this many milliseconds, so that other workspaces have their
   * turn.
   */
  sliceMs: number
}

/** The export was cancelled, or another replica has claimed its lease. */
export class StoppedError extends Error {
  override name = 'StoppedError'
}

/**
 * Writes a file part by part for one slice of time, continuing after the last finished part. Each part is stored and
 * recorded with the state needed to continue before the next one starts. Returns `undefined` while more remains.
 */
export async function writeFile(job: FileJob, options: WriteFileOptions): Promise<ExportFile | undefined> {
  const { store, signal, sliceMs } = options
  const endsAtMs = performance.now() + sliceMs
  const done = await store.parts(job.key)
  const file: FileSoFar = {
    bytes: done.reduce((sum, { bytes }) => sum + bytes, 0),
    parts: done.length,
    rows: job.rows,
    // Parts of earlier slices are read again once, when the file is complete.
    hash: done.length === 0 ? createHash('sha256') : undefined,
  }
  const whole = async (source: OpenedSource, writer: FormatWriter) =>
    toExportFile(
      job,
      source,
      { ...file, hash: file.hash ?? (await hashParts(await store.parts(job.key), options)) },
      writer,
    )
  if (job.ended && job.opened) {
    const writer = openWriter(job.plan, job.opened.columns, job.writer ?? undefined)
    return whole(job.opened, writer)
  }
  const openedRows = await options.open({
    ...(job.cursor !== null && { after: job.cursor }),
    ...(job.opened && { columns: job.opened.columns }),
    ...{ now: options.now, signal },
  })
  const first = job.opened ?? { columns: openedRows.columns, dataAsOf: openedRows.dataAsOf }
  refuseOtherColumns(first, openedRows)
  const writer = openWriter(job.plan, first.columns, job.writer ?? undefined)
  const isOver = () => performance.now() >= endsAtMs
  const sink = partSink(job, { ...options, writer, opened: first, file, isOver })
  const texts = writer.writeComposites && openedRows.compositePages
  let pages = 0
  let releaseHeap: (() => void) | undefined
  try {
    for await (const page of texts || openedRows.pages) {
      signal.throwIfAborted()
      // A file of one page is not worth a garbage collection.
      if (++pages === 2) releaseHeap = limitHeapGrowth(texts ? heapGrowth.texts : heapGrowth.values)
      const isPartDone = await sink.write(page)
      if (isPartDone && isOver()) {
        await sink.finished()
        return undefined
      }
    }
    await sink.end()
  } finally {
    releaseHeap?.()
    await sink.settled()
  }
  return whole(first, writer)
}

/** Initial buffer size, for small files. */
const minBytes = 65_536

/**
 * In percent, see `limitHeapGrowth` and ADR 105. Values leave much garbage in the old generation. Rows read as text
 * also leave buffers, which count as well: with a lower limit V8 would collect every few MB of a CSV file.
 */
const heapGrowth = { values: 20, texts: 50 }

interface FileSoFar {
  bytes: number
  parts: number
  rows: number
  /** Hash of the whole file; `undefined` unless this slice is the first. */
  hash: Hash | undefined
}

/** Collects bytes into parts; each part is uploaded while the next one is collected. */
function partSink(
  job: FileJob,
  {
    store,
    storage,
    partBytes,
    maxBytes,
    signal,
    writer,
    opened,
    file,
    isOver,
  }: WriteFileOptions & { writer: FormatWriter; opened: OpenedSource; file: FileSoFar; isOver(): boolean },
) {
  // One buffer is filled while the other is uploaded. Allocating new ones would account for most of the memory.
  let [filling, idle] = [byteSink(minBytes), byteSink(minBytes)]
  let pendingUpload: Promise<void> = Promise.resolve()
  const finish = async (cursor: string | null) => {
    const progress = { cursor, writer: writer.state(), opened, rows: file.rows, ended: cursor === null }
    await pendingUpload
    const full = filling
    filling = idle
    idle = full
    filling.length = 0
    pendingUpload = uploadPart(full.bytes.subarray(0, full.length), progress)
    // The rejection is reported when the next part awaits it.
    pendingUpload.catch(() => {})
  }
  const uploadPart = async (bytes: Buffer, progress: Omit<PartDone, keyof Part>) => {
    // The fence in the name makes a replica that lost the lease write a different object.
    const name = `${job.key}/${job.fence}-${file.parts}`
    const part = { name, bytes: bytes.length, sha256: sha256Hex(bytes) }
    await store.note(job, part, maxBytes(job.workspaceId))
    await storage.put({ name, bytes, sha256: part.sha256 }, signal)
    if (!(await store.commit(job, { ...part, ...progress, part: file.parts }))) throw new StoppedError()
    file.hash?.update(bytes)
    file.parts++
    file.bytes += bytes.length
  }
  return {
    /** Returns whether a part ends with this page: when it is full, or the slice is over. */
    async write(page: RowPage | CompositePage): Promise<boolean> {
      if ('rows' in page) {
        appendBytes(filling, await writer.write(page.rows))
        file.rows += page.rows.length
        collectYoungHeap()
      } else file.rows += writer.writeComposites?.(filling, page.composites) ?? 0
      // The same query may return different rows next time, so there is no position to continue from.
      const isFull = filling.length + writer.bufferedBytes() >= partBytes
      if ('query' in job.plan.rows || !(isFull || isOver())) return false
      appendBytes(filling, await writer.flush())
      await finish(page.cursor)
      if ('composites' in page) collectYoungHeap()
      return true
    },
    /** Rejects if the last part could not be stored. */
    finished: () => pendingUpload,
    async end() {
      appendBytes(filling, await writer.end())
      await finish(null)
      await pendingUpload
    },
    /** Resolves when no upload is running, so that everything to be removed exists by then. */
    settled: () => pendingUpload.catch(() => {}),
  }
}

/**
 * Reads all parts again to hash the whole file, because another process may have written the earlier ones. Verifies the
 * checksum of each part.
 */
async function hashParts(parts: readonly Part[], { storage, signal }: WriteFileOptions): Promise<Hash> {
  const hash = createHash('sha256')
  for (const { name, bytes, sha256 } of parts) {
    const content = await storage.get(name, { from: 0, to: bytes - 1 }, signal)
    if (sha256Hex(Buffer.from(content)) !== sha256) throw new Error(`the part ${name} is not what was kept`)
    hash.update(content)
  }
  return hash
}

function refuseOtherColumns({ columns }: OpenedSource, now: Pick<OpenedRows, 'columns'>): void {
  const textOf = (list: OpenedSource['columns']) => list.map(({ name, type }) => `${name} ${type}`).join()
  if (textOf(columns) === textOf(now.columns)) return
  throw new ApiError('conflict', 'The columns have changed since the file was started. Export again.')
}

/** Warnings for readers of the file. */
function listWarnings({ rows: source }: PlannedExport, rows: number, writer: FormatWriter): string[] {
  const warnings = writer.warnings()
  if ('query' in source && rows >= source.query.limit)
    warnings.push(`The query answers ${source.query.limit} rows at most, and there may be more.`)
  return warnings
}

const toExportFile = (
  { plan }: FileJob,
  { columns, dataAsOf }: OpenedSource,
  { rows, bytes, hash }: FileSoFar & { hash: Hash },
  writer: FormatWriter,
): ExportFile => ({
  ...{ name: toFileName(plan), contentType: contentTypes[plan.format], rows, bytes },
  ...{ sha256: hash.digest('hex'), dataAsOf, warnings: listWarnings(plan, rows, writer) },
  columns: columns.map(({ name, type }) => ({ name, type })),
})
