import { ApiError } from '@opsplane/contracts'

const mebibyte = 1_048_576
/**
 * Bytes that may arrive from Postgres for one user of a tenant's connection. What is beyond is never buffered, however large a
 * row is: the connection is ended.
 */
export const answerBytes = {
  /** SQL of tenants: what a query may answer, and what of a page of rows may arrive behind it. */
  session: 5 * mebibyte,
  /** A page of records, or of an export with the record that fills it. */
  read: 9 * mebibyte,
  /** All written records of a request, which has at most 16 MiB itself. */
  write: 32 * mebibyte,
} as const

/** So many records fit an answer however large they are: what Postgres lets each have is 256 KiB of JSON. */
export const maxRecordsRead = 32
export const maxRecordsWritten = 100

/** Postgres answers more than is read of it. What the transaction has written is undone. */
export class AnswerTooLargeError extends ApiError {
  constructor(bytes: number, options: { cause?: unknown } = {}) {
    const most = `${Math.floor(bytes / mebibyte)} MiB`
    super(
      'payload_too_large',
      `The records of this answer have more than ${most}. Ask for fewer at once.`,
      options,
    )
  }
}
