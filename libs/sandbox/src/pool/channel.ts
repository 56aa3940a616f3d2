import { spawn } from 'node:child_process'
import type { Socket } from 'node:net'
import { startGuard } from '@opsplane/runtime/server-process'
import { frame, frameReader } from '../frames.js'
import type { ChildCommand } from './program.js'

/** How a child ended: `crashed` by what it did, `died` by what others did. */
export type ChildFailure = 'deadline' | 'memory' | 'too_large' | 'crashed' | 'died'

interface Listener {
  /** A frame of the child. */
  text: (text: string) => void
  /** Once; it is dead then, or soon will be. */
  ended: (failure: ChildFailure) => void
}

/** A running child process and the frames that cross to it and back. */
export interface Channel {
  readonly pid: number
  readonly alive: boolean
  /** Resolves when it is gone. */
  readonly closed: Promise<void>
  send(text: string): void
  /** Kills it. */
  end(failure: ChildFailure): void
}

/** How V8 ends when its heap is full, or something in it larger than can be. */
const crashes = new Set<NodeJS.Signals>(['SIGABRT', 'SIGTRAP', 'SIGILL', 'SIGSEGV'])

function failureOf(code: number | null, signal: NodeJS.Signals | null): ChildFailure {
  if (signal !== null && crashes.has(signal)) return 'memory'
  return code === null ? 'died' : 'crashed'
}

/** Starts the program; its first frame says that it is ready. Frames longer than `frameBytes` end it as `too_large`. */
export function openChannel(
  { command, args, identity }: ChildCommand,
  frameBytes: number,
  listener: Listener,
): Channel {
  const child = spawn(command, args, {
    // A terminal's Ctrl-C is for the parent, which then closes its children when it wants.
    detached: true,
    env: {},
    cwd: '/',
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
    ...identity,
  })
  const pipe = child.stdio[3] as Socket
  const read = frameReader(frameBytes)
  let alive = true

  const end = (failure: ChildFailure) => {
    if (!alive) return
    alive = false
    child.kill('SIGKILL')
    listener.ended(failure)
  }
  pipe.on('data', (chunk: Buffer) => {
    try {
      for (const text of read(chunk)) if (alive) listener.text(text)
    } catch {
      end('too_large')
    }
  })
  pipe.on('error', () => end('died'))
  child.on('error', () => end('died'))
  const gone = new Promise<void>((resolve) => {
    const ended = (code: number | null, signal: NodeJS.Signals | null) => {
      end(failureOf(code, signal))
      pipe.destroy()
      resolve()
    }
    child.once('exit', ended)
    child.once('error', () => child.pid === undefined && ended(null, null))
  })
  if (child.pid !== undefined) {
    // One that computes without end does not notice that its parent is gone.
    const guard = startGuard(child.pid, 'SIGKILL')
    void gone.then(() => guard.kill('SIGKILL'))
  }
  return {
    get pid() {
      return child.pid ?? 0
    },
    get alive() {
      return alive
    },
    closed: gone,
    send(text) {
      if (!alive) return
      // What is sent in one turn of the event loop crosses together.
      pipe.cork()
      pipe.write(frame(text))
      process.nextTick(() => pipe.uncork())
    },
    end,
  }
}
