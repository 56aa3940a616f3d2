import { errorCodes } from '@opsplane/contracts'

/** Postgres text cannot contain NUL. */
export const stripNulBytes = (text: string) => text.replaceAll('\0', '�')

/** The reason a message was given up, as recorded in its dead letter. */
export const describeFailure = (error: unknown): { error: string; cause: string } => ({
  error: stripNulBytes(error instanceof Error ? `${error.name}: ${error.message}` : String(error)),
  cause: causeOf(error),
})

const maxCauses = 5
const ownCodes: ReadonlySet<unknown> = new Set(errorCodes)
/** Error codes of Postgres (five characters) and of Node. */
const systemCode = /^(?:[0-9A-Z]{5}|E[A-Z]{2,20}|ERR_[A-Z_]{2,50})$/

/**
 * The kind of failure, for people who may not see tenant data: an error code of the platform, of Postgres or of
 * Node, else the name of the error class. Messages and custom error names may quote tenant data.
 */
function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error
  return codeIn(error, maxCauses) ?? error.constructor.name
}

function codeIn(error: Error, causesLeft: number): string | undefined {
  const code: unknown = Reflect.get(error, 'code')
  if (typeof code === 'string' && (ownCodes.has(code) || systemCode.test(code))) return code
  return error.cause instanceof Error && causesLeft > 0 ? codeIn(error.cause, causesLeft - 1) : undefined
}
