import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { LocalRunError } from './ports.js'
import { completeSecrets, KeptSecrets, type LocalSecrets } from './secrets.js'

/** Contents of `.opsplane/local.json`, from which scripts and people find a running platform. */
export const LocalInfo = z.object({
  origin: z.string(),
  baseUrl: z.string(),
  workspace: z.string(),
  email: z.string(),
  password: z.string(),
  apiKey: z.string(),
  postgresUrl: z.string(),
  natsUrl: z.string(),
  pid: z.int(),
})
export type LocalInfo = z.infer<typeof LocalInfo>

/**
 * Opens the state folder of a local run: data, keys, log, and the file with the platform's URLs. Throws
 * LocalRunError if the folder cannot be created or written.
 */
export function openState(folder: string) {
  const root = resolve(folder)
  const at = (name: string) => join(root, name)
  try {
    makeFolder(root)
    const attempt = at(`${process.pid}.tmp`)
    writeFileSync(attempt, '')
    rmSync(attempt)
    // If this process is root, Postgres runs as another user and has to reach its own folder below this one.
    chmodSync(root, 0o755)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new LocalRunError(
      `${root} cannot be the folder of the state (${code}). Name another one with --home or OPSPLANE_HOME.`,
      { cause: error },
    )
  }

  const writePrivate = (name: string, value: unknown) => {
    const temporary = at(`${name}.${process.pid}.tmp`)
    writeFileSync(temporary, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600, flush: true })
    renameSync(temporary, at(name))
  }

  return {
    root,
    postgresDir: at('postgres'),
    natsDir: at('nats'),
    logFile: at('opsplane.log'),
    tlsDir: at('tls'),

    /** Keys and passwords of this installation, generated when first needed and kept. */
    secrets(): LocalSecrets {
      const kept = keptSecrets(at('secrets.json'))
      const secrets = completeSecrets(kept)
      if (!isDeepStrictEqual(secrets, kept)) writePrivate('secrets.json', secrets)
      return secrets
    },
    saveSecrets: (secrets: LocalSecrets) => writePrivate('secrets.json', secrets),

    /** The gateway's port at the last start; `undefined` if there was none. */
    lastPort: () => lastPortOf(at('port.json')),
    keepPort: (gateway: number) => writePrivate('port.json', { gateway }),

    /** The platform this folder belongs to, if its process is alive. */
    running: () => runningPlatform(root),
    writeInfo: (info: LocalInfo) => writePrivate('local.json', info),
    removeInfo: () => rmSync(at('local.json'), { force: true }),
  }
}
export type LocalState = ReturnType<typeof openState>

/** Creates folders one by one: below /proc, where none can be created, `recursive` of Node never returns. */
function makeFolder(path: string): void {
  const isThere = () => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
  if (isThere()) return
  if (dirname(path) !== path) makeFolder(dirname(path))
  try {
    mkdirSync(path)
  } catch (error) {
    // Another process may create it at the same time.
    if (!isThere()) throw error
  }
}

/** The platform whose state is in this folder, if its process is alive. Creates no folder. */
export function runningPlatform(folder: string): LocalInfo | undefined {
  const file = join(folder, 'local.json')
  if (!existsSync(file)) return undefined
  const info = LocalInfo.safeParse(jsonOf(file))
  return info.success && isAlive(info.data.pid) ? info.data : undefined
}

/** The signing keys of a service of the local run in this folder; `undefined` if there are none. Creates no folder. */
export function keptKeys(service: string, folder: string) {
  const file = join(folder, 'secrets.json')
  const kept = keptSecrets(file)
  if (!kept) return undefined
  const { serviceKeys } = kept
  const trustedKeys = Object.fromEntries(
    Object.entries(serviceKeys).map(([party, { publicKey }]) => [party, publicKey]),
  )
  const { privateKey } = serviceKeys[service] ?? {}
  return privateKey === undefined ? undefined : { privateKey, trustedKeys }
}

/** `undefined` if the file is not valid JSON: a killed start or a full disk may have truncated it. */
function jsonOf(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/**
 * `undefined` if there are none yet. Throws LocalRunError if they cannot be parsed: new secrets would not match the
 * stored data.
 */
function keptSecrets(file: string) {
  if (!existsSync(file)) return undefined
  const kept = KeptSecrets.safeParse(jsonOf(file))
  if (kept.success) return kept.data
  throw new LocalRunError(
    `${file} is damaged. It has the keys and passwords of this installation, without which its data cannot be read: put back a ` +
      `copy of it, or move the folder ${dirname(file)} away to begin with an empty installation.`,
  )
}

const LastPort = z.object({ gateway: z.int().min(1).max(65_535) })

function lastPortOf(file: string): number | undefined {
  return existsSync(file) ? LastPort.safeParse(jsonOf(file)).data?.gateway : undefined
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
