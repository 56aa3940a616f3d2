import { Socket } from 'node:net'
import { frame, frameReader, partDone } from './frames.js'

/**
 * Runs in the child process: answers requests one after another on the channel opened by the parent, and exits when the
 * parent has exited. The parent enforces deadlines and sizes. Call this function when the child is ready for requests.
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
