import { spawn } from 'node:child_process'
import type { Socket } from 'node:net'
import { startGuard } from '@opsplane/runtime/server-process'
import { frame, frameReader } from '../frames.js'
import type { ChildCommand } from './program.js'

/** How a child ended: `crashed` through its own action, `died` through an external cause. */
export type ChildFailure = 'deadline' | 'memory' | 'too_large' | 'crashed' | 'died'

interface Listener {
  /** Called for each frame of the child. */
  text: (text: string) => void
  /** Called once; the child has exited, or is about to. */
  ended: (failure: ChildFailure) => void
}

/** A running child process and the frames exchanged with it. */
export interface Channel {
  readonly pid: number
  readonly alive: boolean
  /** Resolves when the process has exited. */
  readonly closed: Promise<void>
  send(text: string): void
  /** Kills the process. */
  end(failure: ChildFailure): void
}

/** Signals with which V8 ends if its heap is full, or if a value exceeds the maximum size. */
const crashes = new Set<NodeJS.Signals>(['SIGABRT', 'SIGTRAP', 'SIGILL', 'SIGSEGV'])

function failureOf(code: number | null, signal: NodeJS.Signals | null): ChildFailure {
  if (signal !== null && crashes.has(signal)) return 'memory'
  return code === null ? 'died' : 'crashed'
}

/** Starts the program; its first frame means that it is ready. Longer frames than `frameBytes` end it with `too_large`. */
export function openChannel(
  { command, args, identity }: ChildCommand,
  frameBytes: number,
  listener: Listener,
): Channel {
  const child = spawn(command, args, {
    // Ctrl-C in a terminal must reach only the parent, which then closes its children itself.
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
  const exited = new Promise<void>((resolve) => {
    const handleExit = (code: number | null, signal: NodeJS.Signals | null) => {
      end(failureOf(code, signal))
      pipe.destroy()
      resolve()
    }
    child.once('exit', handleExit)
    child.once('error', () => child.pid === undefined && handleExit(null, null))
  })
  if (child.pid !== undefined) {
    // A child in an endless loop does not notice that its parent has exited.
    const guard = startGuard(child.pid, 'SIGKILL')
    void exited.then(() => guard.kill('SIGKILL'))
  }
  return {
    get pid() {
      return child.pid ?? 0
    },
    get alive() {
      return alive
    },
    closed: exited,
    send(text) {
      if (!alive) return
      // Messages sent in the same turn of the event loop are written together.
      pipe.cork()
      pipe.write(frame(text))
      process.nextTick(() => pipe.uncork())
    },
    end,
  }
}
