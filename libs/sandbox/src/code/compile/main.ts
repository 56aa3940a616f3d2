import { Socket } from 'node:net'
import { frame, frameReader } from '../../frames.js'
import { compileModule } from './compile.js'
import type { CompileReply, CompileRequest } from './messages.js'

// A compiling child of `createCodeRunner`: answers one request after another, and exits when its parent has exited.
const channel = new Socket({ fd: 3, readable: true, writable: true })
const read = frameReader(Number.MAX_SAFE_INTEGER)

async function reply(text: string): Promise<CompileReply> {
  try {
    return await compileModule(JSON.parse(text) as CompileRequest)
  } catch (thrown) {
    if (!(thrown instanceof RangeError)) throw thrown
    return { diagnostics: [{ message: 'The source is too deeply nested.', line: 1, column: 1 }] }
  }
}

let last = Promise.resolve()
channel.on('data', (chunk) => {
  for (const text of read(chunk))
    last = last.then(async () => {
      channel.write(frame(JSON.stringify(await reply(text))))
    })
})
channel.on('close', () => process.exit(0))
channel.on('error', () => process.exit(0))
channel.write(frame('ready'))
