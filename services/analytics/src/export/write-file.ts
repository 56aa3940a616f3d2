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

/** A file as far as it has come. */
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
  /** Of everything the workspace keeps; 0 for no limit. */
  maxBytes(workspaceId: string): number
  open(options: OpenOptions): Promise<OpenedRows>
  now: string
  signal: AbortSignal
  /** After so long, in milliseconds, the next part ends the slice: others have their turn. */
  sliceMs: number
}

/** The export was cancelled, or another replica has taken its lease. */
export class StoppedError extends Error {
  override name = 'StoppedError'
}

/**
 * Writes a file part by part, from behind the last part that is finished, for one slice of time. Each part is stored, and noted
 * with what it takes to continue, before the next one is begun. Undefined while there is more to write.
 */
export async function writeFile(job: FileJob, options: WriteFileOptions): Promise<ExportFile | undefined> {
  const { store, signal, sliceMs } = options
  const endsAtMs = performance.now() + sliceMs
  const done = await store.parts(job.key)
  const file: FileSoFar = {
    bytes: done.reduce((sum, { bytes }) => sum + bytes, 0),
    parts: done.length,
    rows: job.rows,
    // The parts of earlier slices are read again once, when the file is whole.
    hash: done.length === 0 ? createHash('sha256') : undefined,
  }
  const whole = async (opened: OpenedSource, writer: FormatWriter) =>
    toExportFile(
      job,
      opened,
      { ...file, hash: file.hash ?? (await hashParts(await store.parts(job.key), options)) },
      writer,
    )
  if (job.ended && job.opened) {
    const writer = openWriter(job.plan, job.opened.columns, job.writer ?? undefined)
    return whole(job.opened, writer)
  }
  const opened = await options.open({
    ...(job.cursor !== null && { after: job.cursor }),
    ...(job.opened && { columns: job.opened.columns }),
    ...{ now: options.now, signal },
  })
  const first = job.opened ?? { columns: opened.columns, dataAsOf: opened.dataAsOf }
  refuseOtherColumns(first, opened)
  const writer = openWriter(job.plan, first.columns, job.writer ?? undefined)
  const isOver = () => performance.now() >= endsAtMs
  const sink = partSink(job, { ...options, writer, opened: first, file, isOver })
  const texts = writer.writeComposites && opened.compositePages
  let pages = 0
  let releaseHeap: (() => void) | undefined
  try {
    for await (const page of texts || opened.pages) {
      signal.throwIfAborted()
      // A file of one page is not worth a collection.
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

/** Of a file that is small. */
const minBytes = 65_536

/**
 * Percent, see `limitHeapGrowth` and ADR 105: values leave much in the old part of the heap. What is read as text leaves buffers, which count as well, so
 * that less room than this has V8 collect for every few MB of a csv.
 */
const heapGrowth = { values: 20, texts: 50 }

interface FileSoFar {
  bytes: number
  parts: number
  rows: number
  /** Of the whole file; undefined where this slice is not its first. */
  hash: Hash | undefined
}

/** Collects bytes until they are a part, which is put while the next one is collected. */
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
  // Of the two one is filled while the other is put: as new ones they would be what most of the memory goes to.
  let [filling, idle] = [byteSink(minBytes), byteSink(minBytes)]
  let putting: Promise<void> = Promise.resolve()
  const finish = async (cursor: string | null) => {
    const progress = { cursor, writer: writer.state(), opened, rows: file.rows, ended: cursor === null }
    await putting
    const full = filling
    filling = idle
    idle = full
    filling.length = 0
    putting = putPart(full.bytes.subarray(0, full.length), progress)
    // Rejects for the next part instead.
    putting.catch(() => {})
  }
  const putPart = async (bytes: Buffer, progress: Omit<PartDone, keyof Part>) => {
    // A replica that lost the lease meanwhile writes another object.
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
    /** Whether a part ends with the page: once it is full, or the slice is over. */
    async write(page: RowPage | CompositePage): Promise<boolean> {
      if ('rows' in page) {
        appendBytes(filling, await writer.write(page.rows))
        file.rows += page.rows.length
        collectYoungHeap()
      } else file.rows += writer.writeComposites?.(filling, page.composites) ?? 0
      // The answer to a query may be another one next time: there is no place in it to go on at.
      const isFull = filling.length + writer.bufferedBytes() >= partBytes
      if ('query' in job.plan.rows || !(isFull || isOver())) return false
      appendBytes(filling, await writer.flush())
      await finish(page.cursor)
      if ('composites' in page) collectYoungHeap()
      return true
    },
    /** Rejects where the last part could not be stored. */
    finished: () => putting,
    async end() {
      appendBytes(filling, await writer.end())
      await finish(null)
      await putting
    },
    /** Nothing is put any more: whatever is to be removed is there by now. */
    settled: () => putting.catch(() => {}),
  }
}

/** Reads the parts again to hash the whole file, as earlier parts may be of another process; verifies each of them. */
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
  const textOf = (given: OpenedSource['columns']) => given.map(({ name, type }) => `${name} ${type}`).join()
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
