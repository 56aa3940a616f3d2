import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/** The program of a child process. */
export interface ChildProgram {
  /** Path of a compiled module. */
  file: string
  /** Folders that it may read, including those of imported modules. */
  readable: readonly string[]
  heapMb: number
  /** Flags of Node, in addition to those of every child. */
  flags?: readonly string[]
}

export interface ChildCommand {
  command: string
  args: string[]
  /** User to run as; the parent's user if empty. */
  identity: { uid?: number; gid?: number }
}

const readableByAll = 0o004
const searchableByAll = 0o001

/**
 * The command that runs a child with minimal rights: a heap limit, no code from strings, frozen built-in objects, read
 * access to its own modules only, no processes, threads or native addons, no core dumps, no file writes, and not as root
 * if the parent is root.
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

/** Prevents changes to built-in objects. */
const optionalFlags = ['--frozen-intrinsics']

/** The flag is named `--permission` since Node 23.5. */
const permissionFlag = (): string =>
  process.allowedNodeEnvironmentFlags.has('--permission') ? '--permission' : '--experimental-permission'

/** The user `nobody`, if the parent is root and the program is readable by everyone. */
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
