import { FactorChallenge, type LogIn, Me, Session } from '@opsplane/contracts'
import { type Command, Option } from 'commander'
import { createApi } from '../api.js'
import { connect, globalOptions, printerFor } from '../connect.js'
import { defaultProfile, parseBaseUrl } from '../credentials.js'
import { ApiFailure, CliError, usageError } from '../failure.js'
import type { Io } from '../io.js'
import { createProfiles, type Profile } from '../profiles.js'

interface LoginOptions {
  url: string
  workspace: string
  email?: string
  apiKeyStdin?: true
  passwordStdin?: true
  code?: string
}

export function addAccountCommands(program: Command, io: Io): void {
  program
    .command('login')
    .description('log in and remember it on this machine')
    .requiredOption('--url <url>', 'origin of the platform, or base URL of its API')
    .requiredOption('--workspace <slug>', 'the workspace to work in')
    .addOption(new Option('--email <address>', 'log in with e-mail and password').conflicts('apiKeyStdin'))
    .option('--password-stdin', 'read the password from standard input instead of asking')
    .option(
      '--code <code>',
      'of an authenticator app, or a recovery code, instead of asking, for a login with a second factor',
    )
    .addOption(
      new Option('--api-key-stdin', 'use an API key, read from standard input').conflicts('passwordStdin'),
    )
    .addHelpText(
      'after',
      `
It is kept in $XDG_CONFIG_HOME/opsplane/config.json (~/.config), readable by you only, under --profile ("default").
A login with a password makes a session, which ends some day; an API key lasts as long as the key. With a second factor its code is asked
for as well; a passkey works in browsers alone.

Examples:
  $ opsplane login --url https://opsplane.example.com --workspace acme --email ada@example.com
  $ opsplane login --url https://opsplane.example.com --workspace acme --api-key-stdin < key.txt
  $ opsplane login --profile staging --environment staging --url … --workspace acme --api-key-stdin`,
    )
    .action((options: LoginOptions, command: Command) => login(io, options, command))

  program
    .command('logout')
    .description('end the session and forget the login')
    .addHelpText(
      'after',
      '\nAn API key is only forgotten; revoke it in the platform.\n\nExamples:\n  $ opsplane logout --profile staging',
    )
    .action((_options, command: Command) => logout(io, command))

  program
    .command('whoami')
    .description('show who the API takes you for, and where')
    .addHelpText('after', '\nExamples:\n  $ opsplane whoami --json | jq -r .user.email')
    .action(async (_options, command: Command) => {
      const { api, printer, credentials } = connect(io, command)
      const me = await api.one(Me, { path: '/auth/me' })
      printer.one(me, fieldsOf(me, credentials.baseUrl, credentials.source))
    })
}

async function login(io: Io, options: LoginOptions, command: Command): Promise<void> {
  const globals = globalOptions(command)
  if (globals.home !== undefined) throw usageError('--home names a platform that needs no login; give --url.')
  const { workspace, email, apiKeyStdin } = options
  const { timeout, environment, profile: name = defaultProfile } = globals
  const baseUrl = parseBaseUrl(options.url)
  const printer = printerFor(io, command)
  if (!isSafe(new URL(baseUrl))) printer.say(`warning: ${baseUrl} is not https: secrets go there unprotected`)
  if (!apiKeyStdin && email === undefined)
    throw usageError('Give --api-key-stdin, or --email with a password.')
  const token =
    email === undefined
      ? await secretFromInput(io)
      : await newSession(io, { ...options, email }, baseUrl, timeout)
  const api = createApi({ baseUrl, token, workspace, environment }, timeout)
  const me = await api.one(Me, { path: '/auth/me' })
  if (me.workspace === null) throw new CliError(`The API knows no workspace ${workspace}.`, 1)
  const profiles = createProfiles(io.env)
  const profile: Profile = { url: baseUrl, workspace, kind: me.credential.kind, token }
  profiles.save(name, { ...profile, ...(environment && { environment }) })
  printer.one(me, fieldsOf(me, baseUrl, `profile ${name} in ${profiles.file}`))
}

async function newSession(
  io: Io,
  { email, passwordStdin, code }: LoginOptions & { email: string },
  baseUrl: string,
  timeout: number,
): Promise<string> {
  if (!passwordStdin && !io.askSecret)
    throw usageError('There is no terminal to prompt for the password: give it with --password-stdin.')
  const password =
    passwordStdin || !io.askSecret ? await secretFromInput(io) : await io.askSecret(`Password of ${email}: `)
  const api = createApi({ baseUrl }, timeout)
  const logIn = async (body: LogIn) => {
    const call = { method: 'POST', path: '/auth/token', body, attempts: 1 } as const
    return (await api.one(Session, call)).accessToken
  }
  return logIn({ email, password }).catch(async (error: unknown) => {
    const challenge = challengeIn(error)
    if (challenge === undefined) throw error
    return logIn({ challenge: challenge.challenge, code: await codeFor(io, challenge, code) })
  })
}

/** The challenge of a login that requires a second factor; `undefined` for any other error. */
function challengeIn(error: unknown): FactorChallenge | undefined {
  if (!(error instanceof ApiFailure) || error.code !== 'factor_required') return undefined
  return FactorChallenge.safeParse(error.details[0]?.params).data
}

async function codeFor({ askSecret }: Io, { methods }: FactorChallenge, code?: string): Promise<string> {
  if (!methods.includes('totp') && !methods.includes('recovery_code'))
    throw new CliError(
      'This login has passkeys alone, which work in browsers. Use an API key, or add an authenticator app.',
      1,
    )
  if (code !== undefined) return code
  if (!askSecret) throw usageError('There is no terminal to prompt for the code: give it with --code.')
  return (await askSecret('Code of the authenticator app, or a recovery code: ')).trim()
}

/** Strips the trailing line break that an editor or `echo` adds. */
async function secretFromInput(io: Io): Promise<string> {
  const secret = (await io.readInput()).replace(/\r?\n$/, '')
  if (secret === '') throw usageError('Standard input is empty.')
  if (/[^\x20-\x7e\x80-\uffff]/.test(secret)) throw usageError('Standard input must be one line.')
  return secret
}

async function logout(io: Io, command: Command): Promise<void> {
  const { profile: name = defaultProfile, timeout } = globalOptions(command)
  const profiles = createProfiles(io.env)
  const profile = profiles.find(name)
  if (!profile) throw usageError(`There is no profile ${name} to log out of.`)
  const { url: baseUrl, token, kind } = profile
  if (kind === 'session') {
    await createApi({ baseUrl, token }, timeout)
      .none({ method: 'POST', path: '/auth/logout' })
      .catch((error: unknown) => {
        // The session has already ended.
        if (!(error instanceof ApiFailure) || error.code === 'forbidden' || error.exitCode === 3) throw error
      })
  }
  profiles.forget(name)
  const revoked = kind === 'session'
  printerFor(io, command).one({ profile: name, revoked }, [
    ['forgotten', `profile ${name}`],
    ['revoked', revoked ? 'the session' : 'no: the API key stays valid'],
  ])
}

/** True for TLS, or for a host on this machine. */
const isSafe = ({ protocol, hostname }: URL) =>
  protocol === 'https:' || ['localhost', '127.0.0.1', '[::1]'].includes(hostname)

function fieldsOf(me: Me, baseUrl: string, source: string): [string, string | number | null][] {
  const { user, workspace, environment, credential } = me
  const name = credential.name === null ? '' : ` "${credential.name}"`
  return [
    ['user', `${user.name} <${user.email}>`],
    ['workspace', workspace && `${workspace.slug} (${workspace.role})`],
    ['environment', environment],
    [
      'credential',
      `${credential.kind}${name}, ${credential.expiresAt ? `until ${credential.expiresAt}` : 'no end'}`,
    ],
    ['api', baseUrl],
    ['from', source],
  ]
}
