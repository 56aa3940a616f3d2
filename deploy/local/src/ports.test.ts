import { createServer } from 'node:net'
import { expect, test } from '@jest/globals'
import { assertPortFree, freePort, LocalRunError } from './ports.js'

test('a taken port is refused with what to do', async () => {
  const port = await freePort()
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  await expect(assertPortFree(port)).rejects.toThrow(LocalRunError)
  await expect(assertPortFree(port)).rejects.toThrow(`Port ${port} is taken`)
  await new Promise((resolve) => server.close(resolve))
  await expect(assertPortFree(port)).resolves.toBeUndefined()
})
