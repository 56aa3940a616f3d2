import { Socket } from 'node:net'
import { frame, frameReader, partDone } from './frames.js'

/**
 * The side of the child process: answers one request after another on the channel its parent has opened, and ends when the
 * parent is gone. The parent decides how long and how large a request may be. Call it when requests can be answered.
 */
export function answerRequests(answer: (text: string, onPart: () => void) => Promise<string>): void {
  const channel = new Socket({ fd: 3, readable: true, writable: true })
  const read = frameReader(Number.MAX_SAFE_INTEGER)
  const onPart = () => void channel.write(frame(partDone))

  let last = Promise.resolve()
  channel.on('data', (chunk) => {
    for (const text of read(chunk))
      last = last.then(async () => {
        channel.write(frame(await answer(text, onPart)))
      })
  })
  channel.on('close', () => process.exit(0))
  channel.on('error', () => process.exit(0))
  channel.write(frame('ready'))
}
