import { type ByteRange, type FileStream, parseByteRange } from '@opsplane/http'
import type { ObjectStorage } from '../storage/object-storage.js'
import type { JobStore, Part } from './job-store.js'
import type { LinkedFile } from './links.js'

/** The part of a request that determines which bytes are sent. */
export interface DownloadRequest {
  header(name: string): string | undefined
  signal: AbortSignal
}

/**
 * Streams the bytes of a file in the order of its parts, with one part in memory at a time. Throws
 * `range_not_satisfiable` if the requested range lies beyond the file.
 */
export async function openDownload(
  { exportId, file }: LinkedFile,
  { store, storage }: { store: Pick<JobStore, 'parts'>; storage: ObjectStorage },
  { header, signal }: DownloadRequest,
): Promise<FileStream> {
  const etag = `"${file.sha256}"`
  const fileInfo = { fileName: file.name, contentType: file.contentType }
  const common = { ETag: etag, 'Accept-Ranges': 'bytes' }
  if (
    header('if-none-match')
      ?.split(',')
      .some((tag) => tag.trim() === etag)
  )
    return { ...fileInfo, status: 304, headers: common, bytes: nothing() }
  const ifRange = header('if-range')
  const isSame = ifRange === undefined || ifRange === etag
  const range = isSame ? parseByteRange(header('range'), file.bytes) : undefined
  const parts = await store.parts(exportId)
  const { from, to } = range ?? { from: 0, to: file.bytes - 1 }
  const headers = {
    ...common,
    'Content-Length': String(to - from + 1),
    ...(range && { 'Content-Range': `bytes ${from}-${to}/${file.bytes}` }),
  }
  const bytes = readBytes(parts, { from, to }, storage, signal)
  return { ...fileInfo, status: range ? 206 : 200, headers, bytes }
}

async function* nothing(): AsyncIterable<Uint8Array> {}

async function* readBytes(
  parts: readonly Part[],
  { from, to }: ByteRange,
  storage: ObjectStorage,
  signal: AbortSignal,
): AsyncIterable<Uint8Array> {
  let start = 0
  for (const { name, bytes } of parts) {
    const end = start + bytes - 1
    if (end >= from && start <= to && bytes > 0) {
      const range = { from: Math.max(from - start, 0), to: Math.min(to - start, bytes - 1) }
      yield await storage.get(name, range, signal)
    }
    start = end + 1
  }
}
