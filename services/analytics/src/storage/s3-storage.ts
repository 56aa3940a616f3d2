import { OutboundError, type OutboundHttp, type OutboundResponse } from '@opsplane/http'
import { sha256Hex } from '@opsplane/runtime'
import { AwsV4Signer } from 'aws4fetch'
import { MissingObjectError, type ObjectStorage } from './object-storage.js'

export interface S3Options {
  /** For example `https://s3.eu-central-1.amazonaws.com`; the bucket is the first path segment. */
  endpoint: string
  region: string
  bucket: string
  /** Prefix of object names. */
  prefix: string
  accessKeyId: string
  secretAccessKey: string
  http: Pick<OutboundHttp, 'request'>
}

/** The storage responded with an error status. */
export class StorageError extends Error {
  override name = 'StorageError'
}

/** For one object, from DNS to the last byte. */
const timeoutMs = 60_000
/** Less than the maximum response size. */
const rangeBytes = 4 * 1_048_576

const sha256OfNothing = sha256Hex('')

interface Sent {
  body?: Buffer
  /** Checksum of the body. */
  sha256?: string
  headers?: Record<string, string>
  signal: AbortSignal
}

/** Stores parts in an S3 or S3-compatible bucket. All requests pass the outbound guard. */
export function s3Storage({ endpoint, region, bucket, prefix, http, ...keys }: S3Options): ObjectStorage {
  const send = async (
    method: 'PUT' | 'GET' | 'DELETE',
    name: string,
    { body, sha256 = sha256OfNothing, headers = {}, signal }: Sent,
  ): Promise<OutboundResponse> => {
    const path = [bucket, prefix, name].filter((part) => part !== '').join('/')
    const signer = new AwsV4Signer({
      ...{ ...keys, region, service: 's3', method, url: `${endpoint.replace(/\/+$/, '')}/${path}` },
      headers: { ...headers, 'x-amz-content-sha256': sha256 },
    })
    const signed = await signer.sign()
    return http.request({
      ...{ url: signed.url.href, method, headers: Object.fromEntries(signed.headers), signal, timeoutMs },
      ...(body && { body }),
      maxResponseBytes: 2 * rangeBytes,
      // Repeating a request writes the same bytes under the same name.
      repeatable: true,
    })
  }
  const refuse = (operation: string, { status, body }: OutboundResponse): never => {
    const code = /<Code>(\w{1,60})<\/Code>/.exec(body.subarray(0, 2_000).toString())?.[1]
    throw new StorageError(`the storage answered ${operation} with ${status}${code ? ` ${code}` : ''}`)
  }

  return {
    async put({ name, bytes, sha256 }, signal) {
      const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
      const answer = await send('PUT', name, { body, sha256, signal })
      if (answer.status !== 200) refuse('a part', answer)
    },
    async get(name, range, signal) {
      const chunks: Buffer[] = []
      for (let from = range.from; from <= range.to; from += rangeBytes) {
        const to = Math.min(from + rangeBytes - 1, range.to)
        const answer = await send('GET', name, { headers: { range: `bytes=${from}-${to}` }, signal })
        if (answer.status === 404) throw new MissingObjectError(name)
        if (answer.status !== 206 || answer.body.length !== to - from + 1)
          refuse('a question for a part', answer)
        chunks.push(answer.body)
      }
      return Buffer.concat(chunks)
    },
    async remove(name, signal) {
      const answer = await send('DELETE', name, { signal })
      if (answer.status !== 204 && answer.status !== 200 && answer.status !== 404) refuse('a removal', answer)
    },
  }
}

/** Whether the operation may succeed later. */
export const isStorageAway = (error: unknown): boolean => error instanceof OutboundError
