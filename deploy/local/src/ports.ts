import { createServer } from 'node:net'

/** A message for a person: printed as it is, without a stack. */
export class LocalRunError extends Error {}

const listenOn = (port: number) =>
  new Promise<number>((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen({ port, host: '127.0.0.1' }, () => {
      const address = server.address()
      server.close(() =>
        address && typeof address === 'object' ? resolve(address.port) : reject(new Error('no port')),
      )
    })
  })

/** A free port of the loopback address. */
export function freePort(): Promise<number> {
  return listenOn(0)
}

/** Fails with what to do when the port is taken. */
export async function assertPortFree(port: number): Promise<void> {
  try {
    await listenOn(port)
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    if (code === 'EADDRINUSE') {
      throw new LocalRunError(
        `Port ${port} is taken by another process. Stop that process, or choose another port: PORT=8081 npm start`,
      )
    }
    if (code === 'EACCES') {
      throw new LocalRunError(`Port ${port} needs more rights than this user has. Choose one above 1023.`)
    }
    throw error
  }
}
