import { ApiError } from '@opsplane/contracts'

/** A byte range of a file; `to` is inclusive. */
export interface ByteRange {
  from: number
  to: number
}

const single = /^bytes=(\d*)-(\d*)$/

/**
 * The range requested by a Range header; `undefined` for the whole file, also for several ranges and other units.
 * Throws `range_not_satisfiable` for a range beyond the end of the file.
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
