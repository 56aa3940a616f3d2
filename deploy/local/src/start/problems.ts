import { ApiError } from '@opsplane/contracts'
import { databaseFault, InstallationError, isDatabaseUnavailable, shortageRemedy } from '@opsplane/postgres'
import { ConfigError } from '@opsplane/runtime'
import { DirectoryInUseError } from '@opsplane/runtime/server-process'
import { InvalidArgumentError } from 'commander'
import { LocalRunError } from '../ports.js'

/** Location of a start. */
export interface StartPlace {
  /** The state folder. */
  root: string
  logFile: string
  environment: Readonly<Record<string, string | undefined>>
}

/** Errors whose message is shown to the operator unchanged. */
const ownWords = [LocalRunError, DirectoryInUseError, InstallationError, InvalidArgumentError, ConfigError]

/**
 * Explains in sentences why a start failed and what to do next. For unknown errors it names the log, which contains
 * the stack.
 */
export function startProblem(error: unknown, place: StartPlace): string {
  if (error instanceof Error && ownWords.some((kind) => error instanceof kind)) return error.message
  return (
    diskProblem(error, place) ??
    databaseProblem(error, place) ??
    portProblem(error) ??
    `Opsplane could not start: ${messageOf(error)}\nThe log says more: ${place.logFile}`
  )
}

function diskProblem(error: unknown, { root }: StartPlace): string | undefined {
  const code = codeOf(error)
  if (code === 'ENOSPC' || /No space left on device/.test(messageOf(error)))
    return `The disk of ${root} is full. Free some space, or name a folder on another disk with OPSPLANE_HOME.`
  if (code !== undefined && ['EACCES', 'EPERM', 'EROFS', 'EISDIR', 'ENOTDIR'].includes(code))
    return `${pathOf(error) ?? root} cannot be used (${code}). Correct its owner and rights, or name another folder with OPSPLANE_HOME.`
  return undefined
}

/** By SQLSTATE. */
const refusals: Readonly<Record<string, string>> = {
  '28P01': 'Correct the user and the password in DATABASE_URL.',
  '28000': 'Correct the user in DATABASE_URL, or let it in by pg_hba.conf.',
  '3D000': 'Create the database, with the owner that DATABASE_URL names: docs/deploy.md.',
  '42501': 'DATABASE_URL names a superuser, who makes roles and schemas: docs/deploy.md.',
  '53300': `${shortageRemedy}.`,
}

function databaseProblem(error: unknown, { environment }: StartPlace): string | undefined {
  const code = codeOf(error)
  if (code === undefined) return undefined
  const url = environment.DATABASE_URL
  const server = url ? `Postgres at ${placeOf(url)}` : 'The Postgres of the local run'
  const advice = refusals[code]
  if (advice) return `${server} refuses: ${messageOf(error)}.\n${advice}`
  if (!isDatabaseUnavailable(error)) return undefined
  const cure = url
    ? 'Check that it runs and that DATABASE_URL is right. Without DATABASE_URL the local run has a Postgres of its own.'
    : 'Start again; the log says more.'
  return `${server} ${databaseFault(error)} (${messageOf(error)}).\n${cure}`
}

function portProblem(error: unknown): string | undefined {
  const { code, port, address } = Object(error) as NodeJS.ErrnoException & { port?: number; address?: string }
  if (code === 'EADDRINUSE')
    return `Port ${port} of ${address} is taken by another program. Stop that program or choose another port: PORT, METRICS_PORT.`
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    return `${address ?? messageOf(error)} is no address of this machine. Correct HOST or METRICS_HOST.`
  return undefined
}

/** Code of the innermost error that has one; outer errors wrap it. */
function codeOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined
  if (error instanceof AggregateError) return codeOf(error.errors[0])
  if ('code' in error && typeof error.code === 'string' && !(error instanceof ApiError)) return error.code
  return 'cause' in error ? codeOf(error.cause) : undefined
}

function pathOf(error: unknown): string | undefined {
  return typeof error === 'object' && error !== null && 'path' in error ? String(error.path) : undefined
}

const messageOf = (error: unknown): string => {
  if (error instanceof AggregateError) return messageOf(error.errors[0])
  return error instanceof Error ? error.message : String(error)
}

/** The URL without secrets. */
function placeOf(url: string): string {
  const { host, pathname } = new URL(url)
  return `${host}${pathname === '/' ? '' : pathname}`
}
