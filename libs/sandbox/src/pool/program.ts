import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/** What a child process runs. */
export interface ChildProgram {
  /** A compiled module. */
  file: string
  /** Folders it may read, with the modules it imports. */
  readable: readonly string[]
  heapMb: number
  /** Flags of Node, in addition to those every child has. */
  flags?: readonly string[]
}

export interface ChildCommand {
  command: string
  args: string[]
  /** Whom it runs as; as we do where it is empty. */
  identity: { uid?: number; gid?: number }
}

const readableByAll = 0o004
const searchableByAll = 0o001

/**
 * The command that runs a child with as little as it needs: a heap with a limit, no code from strings, built-in objects
 * that cannot be changed, no files but its own modules, no processes, threads or native addons, no core dump, no file it
 * could write; not as root, where the parent is.
 */
export function buildChildCommand({ file, readable, heapMb, flags: own = [] }: ChildProgram): ChildCommand {
  const flags = [
    `--max-old-space-size=${heapMb}`,
    '--max-semi-space-size=8',
    '--disallow-code-generation-from-strings',
    '--no-warnings',
    '--no-addons',
    ...optionalFlags.filter((flag) => process.allowedNodeEnvironmentFlags.has(flag)),
    permissionFlag(),
    ...own,
    ...readable.map((folder) => `--allow-fs-read=${folder}/*`),
  ]
  const node = [process.execPath, ...flags, file]
  const identity = otherIdentity([process.execPath, file, ...readable])
  return process.platform === 'win32'
    ? { command: process.execPath, args: node.slice(1), identity }
    : {
        command: '/bin/sh',
        args: ['-c', 'unset PWD OLDPWD; ulimit -c 0; ulimit -f 0; exec "$@"', 'child', ...node],
        identity,
      }
}

/** Built-in objects cannot be changed. */
const optionalFlags = ['--frozen-intrinsics']

/** Its name since Node 23.5. */
const permissionFlag = (): string =>
  process.allowedNodeEnvironmentFlags.has('--permission') ? '--permission' : '--experimental-permission'

/** The user `nobody`, where we are root and the program is readable by others. */
function otherIdentity(files: readonly string[]): ChildCommand['identity'] {
  if (process.getuid?.() !== 0 || !files.every(isReadableByAll)) return {}
  if (!existsSync('/etc/passwd')) return {}
  const [, uid, gid] = /^nobody:[^:]*:(\d+):(\d+):/m.exec(readFileSync('/etc/passwd', 'utf8')) ?? []
  return uid === undefined || gid === undefined ? {} : { uid: Number(uid), gid: Number(gid) }
}

function isReadableByAll(path: string): boolean {
  const { mode } = statSync(path)
  if ((mode & readableByAll) === 0) return false
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    if ((statSync(folder).mode & searchableByAll) === 0) return false
    if (folder === dirname(folder)) return true
  }
}
