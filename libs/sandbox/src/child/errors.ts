import type { ExpressionErrorCode, ExpressionFailure } from '../error-codes.js'

const codes: Record<string, ExpressionErrorCode> = {
  D1011: 'expression_too_deep',
  D2014: 'expression_too_large',
  D2015: 'expression_too_large',
}

export const timedOut: ExpressionFailure = { code: 'expression_timeout', message: 'takes too long' }

/** Converts an error of parsing or evaluation; uses JSONata's message if there is one. */
export function childError(thrown: unknown): ExpressionFailure {
  const { code, message, position, token } = (thrown ?? {}) as Record<string, unknown>
  if (typeof code !== 'string') return engineError(thrown)
  if (code === 'D1012') return timedOut
  return {
    code: codes[code] ?? (code.startsWith('S0') ? 'expression_syntax' : 'expression_error'),
    message: shortened(typeof message === 'string' ? message : code, 500),
    ...(typeof position === 'number' && { position }),
    ...(typeof token === 'string' && { token: shortened(token, 100) }),
  }
}

/** An error of the JavaScript engine. */
function engineError(thrown: unknown): ExpressionFailure {
  if (!(thrown instanceof RangeError)) return { code: 'expression_error', message: 'cannot be evaluated' }
  return thrown.message.includes('call stack')
    ? { code: 'expression_too_deep', message: 'goes too deep' }
    : { code: 'expression_too_large', message: 'makes a value that is too large' }
}

const shortened = (text: string, length: number): string =>
  text.length > length ? `${text.slice(0, length)}…` : text
