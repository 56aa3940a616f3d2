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
  print: (text: string) => void,
  question: string,
): Promise<string> {
  print(question)
  terminal.setRawMode(true)
  terminal.setEncoding('utf8')
  return new Promise((resolve, reject) => {
    let characters: string[] = []
    const finish = (settle: () => void) => {
      terminal.off('data', onData)
      terminal.setRawMode(false)
      terminal.pause()
      print('\n')
      settle()
    }
    const onData = (chunk: Buffer | string) => {
      for (const key of String(chunk)) {
        if (key === '\r' || key === '\n' || key === keys.end)
          return finish(() => resolve(characters.join('')))
        if (key === keys.interrupt) return finish(() => reject(new CliError('Interrupted.', 1)))
        if (key === keys.backspace || key === keys.delete) characters.pop()
        else if (key === keys.clear) characters = []
        else characters.push(key)
      }
    }
    terminal.on('data', onData)
    terminal.resume()
  })
}
