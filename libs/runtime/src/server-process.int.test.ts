import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { describe, expect, test } from '@jest/globals'
import {
  findProcess,
  freePort,
  type ServerProcessOptions,
  startServerProcess,
  waitForExit,
} from './server-process.js'

const LONG_RUNNING: ServerProcessOptions = { command: 'sleep', args: ['300'], stopSignal: 'SIGTERM' }

describe('a server process', () => {
  test('ends when it is stopped', async () => {
    const server = await startServerProcess(LONG_RUNNING)
    expect(findProcess(server.pid)).toMatchObject({ parentPid: process.pid, commandLine: 'sleep 300' })

    await server.stop()

    expect(server.running).toBe(false)
    expect(await server.exited).toBe('killed by SIGTERM')
    expect(findProcess(server.pid)).toBeUndefined()
  })

  test('ends when its parent is killed', async () => {
    const script = `
      const { startServerProcess } = await import(process.argv[1])
      const { pid } = await startServerProcess(${JSON.stringify(LONG_RUNNING)})
      process.stdout.write(String(pid))`
    const module = new URL('./server-process.js', import.meta.url).href
    const parent = spawn(process.execPath, ['--input-type=module', '-e', script, module])
    const [pid] = (await once(parent.stdout, 'data')) as [Buffer]

    parent.kill('SIGKILL')

    expect(await waitForExit(Number(pid), 60_000)).toBe(true)
  })

  test('reports its exit code and its last output', async () => {
    const server = await startServerProcess({
      ...LONG_RUNNING,
      command: 'sh',
      args: ['-c', 'echo out of paper >&2; exit 3'],
    })

    expect(await server.exited).toBe('exit code 3')
    expect(server.logTail()).toBe('out of paper')
  })

  test('is not started when the program does not exist', async () => {
    await expect(
      startServerProcess({ ...LONG_RUNNING, command: 'no-such-program', args: [] }),
    ).rejects.toThrow(/ENOENT/)
  })
})

describe('freePort', () => {
  test('returns the requested port, or an error that names it', async () => {
    const port = await freePort()
    expect(await freePort(port)).toBe(port)
    const other = createServer().listen(port, '127.0.0.1')
    await once(other, 'listening')

    await expect(freePort(port)).rejects.toThrow(`Port ${port} of 127.0.0.1 is taken by another program`)
    other.close()
  })

  test('returns no port twice, and only ports of the range in FREE_PORTS', async () => {
    const usual = process.env.FREE_PORTS
    try {
      process.env.FREE_PORTS = '14000'
      await expect(freePort()).rejects.toThrow(
        'FREE_PORTS is not two ports with a hyphen between them: 14000',
      )
    } finally {
      if (usual === undefined) delete process.env.FREE_PORTS
      else process.env.FREE_PORTS = usual
    }
    const [lowest = 0, highest = 0] = (usual ?? '').split('-').map(Number)
    const ports: number[] = []
    for (let n = 0; n < 200; n++) ports.push(await freePort())
    expect(new Set(ports).size).toBe(ports.length)
    expect(ports.filter((port) => port < lowest || port > highest)).toEqual([])
  })

  test('waits for a port that is about to be released', async () => {
    const other = createServer().listen(await freePort(), '127.0.0.1')
    await once(other, 'listening')
    const { port } = other.address() as { port: number }
    const waiting = freePort(port)

    other.close()

    expect(await waiting).toBe(port)
  })
})
