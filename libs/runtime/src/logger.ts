import { type DestinationStream, type Logger as PinoLogger, pino } from 'pino'

export type Logger = PinoLogger
export type LogLevel = 'silent' | 'error' | 'warn' | 'info' | 'debug' | 'trace'

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
]

/** JSON log lines to stdout, or to `destination`; secret fields are `***` at the top and up to two levels down. */
export function createLogger(options: {
  service: string
  level: LogLevel
  destination?: DestinationStream
}): Logger {
  const settings = {
    level: options.level,
    base: { service: options.service },
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: { paths: secretFields.flatMap((field) => [field, `*.${field}`, `*.*.${field}`]), censor: '***' },
  }
  return options.destination ? pino(settings, options.destination) : pino(settings)
}
