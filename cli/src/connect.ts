import type { Environment } from '@opsplane/contracts'
import type { Command } from 'commander'
import { type Api, createApi } from './api.js'
import { type Credentials, findCredentials } from './credentials.js'
import type { Io } from './io.js'
import { createPrinter, type Printer } from './print.js'

/** Options that every command accepts. */
export interface GlobalOptions {
  json?: true
  profile?: string
  home?: string
  environment?: Environment
  timeout: number
}

export interface Connection {
  api: Api
  printer: Printer
  credentials: Credentials
  options: GlobalOptions
}

export const globalOptions = (command: Command): GlobalOptions => command.optsWithGlobals<GlobalOptions>()

export const printerFor = (io: Io, command: Command): Printer =>
  createPrinter(io, globalOptions(command).json ?? false)

/** Connects to the API named by the options or the environment. Throws CliError if they name none. */
export function connect(io: Io, command: Command): Connection {
  const options = globalOptions(command)
  const credentials = findCredentials(options, io.env)
  const api = createApi(credentials, options.timeout)
  return { api, printer: createPrinter(io, options.json ?? false), credentials, options }
}

/** Builds an API path; the interpolated values are escaped. */
export function formatPath(strings: TemplateStringsArray, ...parts: readonly string[]): string {
  return String.raw({ raw: strings }, ...parts.map(encodeURIComponent))
}
