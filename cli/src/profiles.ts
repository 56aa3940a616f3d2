import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { Environment } from '@opsplane/contracts'
import { z } from 'zod'
import { usageError } from './failure.js'

/** One login: platform URL, credential, workspace and environment. */
export const Profile = z.object({
  url: z.string(),
  workspace: z.string(),
  environment: Environment.optional(),
  kind: z.enum(['session', 'api_key']),
  token: z.string(),
})
export type Profile = z.infer<typeof Profile>

const Config = z.object({ profiles: z.record(z.string(), Profile) })

/** The stored logins of the current user on this machine. */
export function createProfiles(env: Record<string, string | undefined>) {
  const { XDG_CONFIG_HOME: base, HOME: home = homedir() } = env
  // A relative path is not a valid setting, and would scatter secrets over several folders.
  const folder = join(base && isAbsolute(base) ? base : join(home, '.config'), 'opsplane')
  const file = join(folder, 'config.json')

  const read = (): Record<string, Profile> => {
    if (!existsSync(file)) return {}
    const parsed = Config.safeParse(parseJson(readFileSync(file, 'utf8')))
    if (parsed.success) return parsed.data.profiles
    throw usageError(
      `${file} cannot be read: it is not what opsplane login writes. Remove it and log in again.`,
    )
  }
  const write = (profiles: Record<string, Profile>) => {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    chmodSync(folder, 0o700)
    const temporary = `${file}.${process.pid}.tmp`
    rmSync(temporary, { force: true })
    writeFileSync(temporary, `${JSON.stringify({ profiles }, null, 2)}\n`, { mode: 0o600 })
    renameSync(temporary, file)
  }
  return {
    file,
    names: () => Object.keys(read()),
    find: (name: string): Profile | undefined => {
      const profiles = read()
      return Object.hasOwn(profiles, name) ? profiles[name] : undefined
    },
    save: (name: string, profile: Profile) => write({ ...read(), [name]: profile }),
    forget: (name: string) => {
      const { [name]: _, ...others } = read()
      write(others)
    },
  }
}
export type Profiles = ReturnType<typeof createProfiles>

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
