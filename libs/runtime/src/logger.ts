import { type DestinationStream, type Logger as PinoLogger, pino } from 'pino'
import { loggedError } from './logged-error.js'

export type Logger = PinoLogger
type LogLevel = 'silent' | 'error' | 'warn' | 'info' | 'debug' | 'trace'

const secretFields = [
  'authorization',
  'cookie',
  'password',
  'secret',
  'token',
  'accessToken',
  'apiKey',
  'plaintext',
  'privateKey',
  'masterKey',
  'databaseUrl',
  'natsUrl',
  'servicePrivateKey',
]

/**
 * Writes JSON log lines to stdout, or to `destination`. Secret fields are `***` at the top level and up to two
 * levels down. Errors (`err`) are logged without tenant data, unless `tenantData` requests them unchanged.
 */
export function createLogger(options: {
  service: string
  level: LogLevel
  tenantData?: boolean
  destination?: DestinationStream
}): Logger {
  const settings = {
    level: options.level,
    base: { service: options.service },
    timestamp: pino.stdTimeFunctions.isoTime,
    ...(options.tenantData !== true && {
      serializers: { err: (error: unknown) => loggedError(error) },
      formatters: { log: withoutErrors },
    }),
    redact: { paths: secretFields.flatMap((field) => [field, `*.${field}`, `*.*.${field}`]), censor: '***' },
  }
  return options.destination ? pino(settings, options.destination) : pino(settings)
}

/** Errors under other names than `err` are treated alike. */
function withoutErrors(fields: Record<string, unknown>): Record<string, unknown> {
  const errors = Object.entries(fields).filter(([name, value]) => name !== 'err' && value instanceof Error)
  if (errors.length === 0) return fields
  return { ...fields, ...Object.fromEntries(errors.map(([name, error]) => [name, loggedError(error)])) }
}
