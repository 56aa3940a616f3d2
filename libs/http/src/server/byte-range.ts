import { ApiError } from '@opsplane/contracts'

/** Bytes of a file, the last one included. */
export interface ByteRange {
  from: number
  to: number
}

const single = /^bytes=(\d*)-(\d*)$/

/**
 * The one range that a Range header asks for; undefined for the whole file, as which several ranges and other units count.
 * Throws `range_not_satisfiable` for one that lies beyond the file.
 */
export function parseByteRange(header: string | undefined, size: number): ByteRange | undefined {
  const [, first = '', last = ''] = single.exec(header ?? '') ?? []
  if (first === '' && last === '') return undefined
  const from = first === '' ? Math.max(size - Number(last), 0) : Number(first)
  const to = first === '' || last === '' ? size - 1 : Math.min(Number(last), size - 1)
  if (from > to || (first === '' && Number(last) === 0)) {
    const message = `The file has ${size} bytes.`
    const detail = { in: 'header', path: '/range', code: 'out_of_range', message } as const
    throw new ApiError('range_not_satisfiable', message, {
      details: [detail],
      headers: { 'Content-Range': `bytes */${size}` },
    })
  }
  return { from, to }
}
