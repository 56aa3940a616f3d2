import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { backendNames, serviceNames } from '@opsplane/contracts'
import {
  bootstrapOwner,
  buildNatsUrls,
  type Environment,
  LocalInfo,
  type LocalSecrets,
  localAppsOrigin,
  makeReceiverCertificate,
  mapNames,
  natsAuthorization,
  openState,
  runDemo,
} from '@opsplane/local'
import { parseConfig } from '@opsplane/runtime'
import { z } from 'zod'
import { migrationEnvironment, secretEnvironments } from './installation.js'

const config = z.object({
  postgresUrl: z.url().meta({ description: 'URL of the database for its superuser, without a password' }),
  natsUrl: z.string().meta({ description: 'URL of the NATS server, without a user' }),
  publicOrigin: z.url().optional().meta({ description: 'origin at which people use the installation' }),
  appsOrigin: z.url().optional().meta({ description: 'origin reserved for apps' }),
  operators: z
    .string()
    .optional()
    .meta({ description: 'e-mail addresses of the operators of the installation' }),
  publicPort: z.coerce
    .number()
    .int()
    .default(8080)
    .meta({ description: 'port of the public origin if it is on this machine' }),
  receiverHost: z.string().default('demo').meta({ description: 'host of the receiver of the demonstration' }),
})
type Config = z.infer<typeof config>
const originOf = ({ publicOrigin, publicPort }: Pick<Config, 'publicOrigin' | 'publicPort'>) =>
  publicOrigin ?? `http://localhost:${publicPort}`
type Environments = Record<string, string | undefined>

/** Port on which services listen in their containers. */
const port = 8080
const addressOf = (service: string) => `http://${service}:${port}`
/** Networks that containers use: the receivers of a trial are in them. */
const containerNetworks = '10.0.0.0/8,172.16.0.0/12,192.168.0.0/16'

/** Creates the keys of an installation on one machine, once, and the files its containers are started with. */
export async function prepareLocal(folder: string, env: Environments): Promise<void> {
  const settings = parseConfig(config, env)
  const secrets = openState(folder).secrets()
  const postgresUrl = withPassword(settings.postgresUrl, join(folder, 'postgres'))
  const { caFile } = await makeReceiverCertificate(join(folder, 'tls'), settings.receiverHost)
  const environments = environmentsOf(secrets, { ...settings, postgresUrl }, caFile)
  mkdirSync(join(folder, 'env'), { recursive: true })
  for (const [name, environment] of Object.entries(environments))
    writeFileSync(join(folder, 'env', `${name}.env`), envFile(environment), { mode: 0o600 })
  mkdirSync(join(folder, 'nats'), { recursive: true })
  // The server reads the file as a different user, from a folder that no other user can read.
  writeFileSync(join(folder, 'nats', 'users.conf'), natsAuthorization(secrets), { mode: 0o644 })
}

/** Creates the first workspace and prints the URLs. */
export async function finishLocal(
  folder: string,
  env: Environments,
  print: (line: string) => void,
): Promise<void> {
  const { postgresUrl, natsUrl, ...place } = parseConfig(config, env)
  const publicOrigin = originOf(place)
  const state = openState(folder)
  const secrets = state.secrets()
  const origin = addressOf('gateway')
  const owner = await bootstrapOwner({ secrets, settingsUrl: addressOf('settings'), origin })
  state.saveSecrets({ ...secrets, owner })
  state.writeInfo({
    ...{ origin, baseUrl: `${origin}/api/v1`, ...owner },
    ...{ postgresUrl, natsUrl: buildNatsUrls(natsUrl, secrets.natsPasswords).natsUrl, pid: process.pid },
  })
  print(`
Opsplane is ready.

API            ${publicOrigin}/api/v1
API reference  ${publicOrigin}/api/v1/docs
Workspace      ${owner.workspace}
Sign in as     ${owner.email} with ${owner.password}
API key        ${owner.apiKey}`)
}

/** Runs the demo for the user, with a receiver in this container. */
export async function demonstrate(
  folder: string,
  env: Environments,
  print: (line: string) => void,
): Promise<void> {
  const { receiverHost } = parseConfig(config, env)
  const info = LocalInfo.parse(JSON.parse(readFileSync(join(folder, 'local.json'), 'utf8')))
  const certificate = await makeReceiverCertificate(join(folder, 'tls'), receiverHost)
  await runDemo({ info, certificate, say: print, receiverHost })
}

/** The URL with the superuser's password, which is generated once. */
function withPassword(postgresUrl: string, folder: string): string {
  const file = join(folder, 'password')
  mkdirSync(folder, { recursive: true })
  if (!existsSync(file)) writeFileSync(file, randomBytes(18).toString('base64url'), { mode: 0o644 })
  const url = new URL(postgresUrl)
  url.password = readFileSync(file, 'utf8')
  return url.href
}

function environmentsOf(
  secrets: LocalSecrets,
  { postgresUrl, natsUrl, ...place }: Config,
  caFile: string,
): Record<string, Environment> {
  const own = secretEnvironments(secrets, { postgresUrl, natsUrl })
  const origin = { PUBLIC_ORIGIN: originOf(place) }
  const common = { SERVICE_URLS: JSON.stringify(mapNames(backendNames, addressOf)) }
  const outbound = (name: string) => ({
    [`${name}_ALLOWED_CIDRS`]: containerNetworks,
    [`${name}_CA_FILE`]: caFile,
  })
  const extra: Record<string, Environment> = {
    dispatcher: outbound('WEBHOOK'),
    integrations: outbound('CONNECTOR'),
    workflows: outbound('WORKFLOW'),
    sdk: outbound('SDK'),
    settings: { ...origin, ...outbound('SSO'), OPERATORS: place.operators ?? secrets.owner.email },
    analytics: origin,
    gateway: { ...origin, APPS_ORIGIN: place.appsOrigin ?? localAppsOrigin(origin.PUBLIC_ORIGIN) },
  }
  return {
    ...mapNames(serviceNames, (name) => ({ ...common, ...own[name], ...extra[name] })),
    migrate: migrationEnvironment(secrets, postgresUrl),
  }
}

/** In the format Node reads: text between single quotes is literal. */
const envFile = (environment: Environment): string =>
  Object.entries(environment)
    .flatMap(([name, value]) => (value === undefined ? [] : [`${name}='${value}'\n`]))
    .join('')
