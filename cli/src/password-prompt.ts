import { CliError } from './failure.js'

/** The parts of `tty.ReadStream` that the prompt uses. */
export interface Terminal {
  setRawMode(raw: boolean): unknown
  setEncoding(encoding: 'utf8'): unknown
  resume(): unknown
  pause(): unknown
  on(event: 'data', listener: (chunk: Buffer | string) => void): unknown
  off(event: 'data', listener: (chunk: Buffer | string) => void): unknown
}

const keys = { interrupt: '\u0003', end: '\u0004', backspace: '\u007f', delete: '\b', clear: '\u0015' }

/** Reads one line from a terminal without echo. Throws CliError on Ctrl-C. */
export function promptSecret(
  terminal: Terminal,
  ask: (text: string) => void,
  question: string,
): Promise<string> {
  ask(question)
  terminal.setRawMode(true)
  terminal.setEncoding('utf8')
  return new Promise((resolve, reject) => {
    let typed: string[] = []
    const finish = (settle: () => void) => {
      terminal.off('data', onData)
      terminal.setRawMode(false)
      terminal.pause()
      ask('\n')
      settle()
    }
    const onData = (chunk: Buffer | string) => {
      for (const key of String(chunk)) {
        if (key === '\r' || key === '\n' || key === keys.end) return finish(() => resolve(typed.join('')))
        if (key === keys.interrupt) return finish(() => reject(new CliError('Interrupted.', 1)))
        if (key === keys.backspace || key === keys.delete) typed.pop()
        else if (key === keys.clear) typed = []
        else typed.push(key)
      }
    }
    terminal.on('data', onData)
    terminal.resume()
  })
}
