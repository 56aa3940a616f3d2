import { Socket } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { frame, frameReader, partDone } from '../frames.js'
import { check } from './check.js'
import { evaluate } from './evaluate.js'
import { parseRequest } from './request.js'

// A child of `createExpressions`: answers one request after another, and ends when its parent is gone. The parent decides
// how long and how large a request may be; what it sends is its own.
// Regular expressions that backtrack too much go over to an engine of linear time, where V8 has one.
setFlagsFromString('--enable-experimental-regexp-engine-on-excessive-backtracks')

// A promise inside JSONata that nobody waits for any more is no reason to end.
process.on('unhandledRejection', () => {})

const channel = new Socket({ fd: 3, readable: true, writable: true })
const read = frameReader(Number.MAX_SAFE_INTEGER)

const onePart = () => void channel.write(frame(partDone))

async function answer(text: string): Promise<string> {
  const request = parseRequest(text)
  return request.op === 'check' ? check(request.expressions, onePart) : evaluate(request, onePart)
}

let last = Promise.resolve()
channel.on('data', (chunk) => {
  for (const text of read(chunk))
    last = last.then(async () => {
      channel.write(frame(await answer(text)))
    })
})
channel.on('close', () => process.exit(0))
channel.on('error', () => process.exit(0))
channel.write(frame('ready'))
