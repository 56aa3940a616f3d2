import { execFileSync } from 'node:child_process'
import { chmodSync, readFileSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

export interface SystemUser {
  uid: number
  gid: number
}

const OWN_USER = 'opsplane'
const SEARCHABLE_BY_ALL = 0o001

/**
 * The unprivileged user Postgres runs as if we are root, because it refuses to run as root; `undefined` if we are
 * not root.
 */
export function serverUser(): SystemUser | undefined {
  if (process.getuid?.() !== 0) return undefined
  const user = findUser('postgres') ?? findUser(OWN_USER) ?? createUser() ?? findUser('nobody')
  if (user) return user
  throw new Error(
    'Postgres refuses to run as root and no other user could be created. Create a user named "postgres".',
  )
}

/** Allows that user to traverse the directories above a path, because root's home is closed by default. */
export function openPathTo(path: string, onLog?: (line: string) => void): void {
  for (let parent = dirname(path); ; parent = dirname(parent)) {
    const { mode } = statSync(parent)
    if ((mode & SEARCHABLE_BY_ALL) === 0) {
      chmodSync(parent, (mode & 0o7777) | SEARCHABLE_BY_ALL)
      onLog?.(`made ${parent} searchable (o+x) for the Postgres user`)
    }
    if (parent === dirname(parent)) return
  }
}

function findUser(name: string): SystemUser | undefined {
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((entry) => entry.startsWith(`${name}:`))
  const [, , uid, gid] = line?.split(':') ?? []
  return uid === undefined || gid === undefined ? undefined : { uid: Number(uid), gid: Number(gid) }
}

// Debian and Red Hat have useradd, Alpine has adduser.
function createUser(): SystemUser | undefined {
  const attempts: [string, string[]][] = [
    ['useradd', ['--system', '--user-group', '--no-create-home', '--shell', '/bin/false', OWN_USER]],
    ['adduser', ['-S', '-D', '-H', OWN_USER]],
  ]
  for (const [command, args] of attempts) {
    try {
      execFileSync(command, args, { stdio: 'ignore' })
      return findUser(OWN_USER)
    } catch {
      // Tries the next command, then `nobody`.
    }
  }
  return undefined
}
