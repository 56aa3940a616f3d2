import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { natsNames } from '@opsplane/contracts'
import { connectNats, type NatsLink } from '@opsplane/nats'
import { type EmbeddedNats, startEmbeddedNats } from '@opsplane/nats/embedded'
import { waitFor } from '@opsplane/testing'
import { openService, type Service } from '../fixture/relayed-service.js'
import { openManager, streamMessages, withoutRepetitions } from '../fixture/stream-messages.js'
import { log, schema } from '../fixture/test-database.js'

/** Each test removes something from a stream behind the relay's back; in the end everything is there, in order. */
describe('a stream that lost events is refilled', () => {
  const names = natsNames('loss')
  const stream = names.eventsStream
  let services: Service[] = []
  let storeDir: string
  let server: EmbeddedNats
  let link: NatsLink

  beforeEach(async () => {
    storeDir = mkdtempSync(join(tmpdir(), 'relay-loss-'))
    server = await startEmbeddedNats({ storeDir: join(storeDir, 'now') })
    link = connectNats({ url: server.url, name: 'relay-loss', log })
    services = []
  })
  afterEach(async () => {
    for (const service of services) await service.stop()
    await link.close()
    await server.stop()
    rmSync(storeDir, { recursive: true, force: true })
  })

  const startService = async (name = schema) => {
    const service = await openService(name, link, names)
    services.push(service)
    return service
  }
  const manager = () => openManager(link)
  const stopServer = async () => {
    await server.stop()
    await waitFor(() => !link.connected())
  }
  const startServer = async () => {
    server = await startEmbeddedNats({ storeDir: join(storeDir, 'now'), port: server.port })
    await waitFor(() => link.connected())
  }

  const copyStore = async () => {
    await stopServer()
    cpSync(join(storeDir, 'now'), join(storeDir, 'copy'), { recursive: true })
    await startServer()
  }
  const setStoreBack = async () => {
    await stopServer()
    rmSync(join(storeDir, 'now'), { recursive: true })
    cpSync(join(storeDir, 'copy'), join(storeDir, 'now'), { recursive: true })
    await startServer()
  }

  /**
   * Every committed event is in the stream, and in order for a consumer that recognizes repeated events by their
   * ids.
   */
  const expectEverything = async () => {
    const unseen = await waitFor(
      async () => {
        const ids = new Set((await streamMessages(link, names)).map(({ event }) => event.id))
        for (const service of services)
          for (const id of await service.committed()) if (!ids.has(id)) return undefined
        return [...services].length
      },
      { message: 'every event to be in the stream' },
    )
    expect(unseen).toBe(services.length)
    const versions = new Map<string, number>()
    for (const { event } of withoutRepetitions(await streamMessages(link, names))) {
      expect([event.resource.id, event.version]).toEqual([
        event.resource.id,
        (versions.get(event.resource.id) ?? 0) + 1,
      ])
      versions.set(event.resource.id, event.version)
    }
  }

  test('when it was deleted', async () => {
    const service = await startService()
    await service.write(30)
    await service.drained()
    await (await manager()).streams.delete(stream)
    await service.write(1)
    await expectEverything()
  })

  test('when it was deleted and nothing is written any more', async () => {
    const service = await startService()
    await service.write(30)
    await service.drained()
    await (await manager()).streams.delete(stream)
    await expectEverything()
  })

  test('when it was deleted and recreated by another client while events flow', async () => {
    const service = await startService()
    await service.write(40)
    const { config } = await (await manager()).streams.info(stream)
    let flows = true
    const flowing = (async () => {
      while (flows) await service.write(10)
    })()
    for (let round = 0; round < 3; round++) {
      const before = await service.generation()
      await (await manager()).streams.delete(stream)
      await (await manager()).streams.add(config).catch(() => {})
      await waitFor(async () => (await service.generation()) > before)
    }
    flows = false
    await flowing
    await expectEverything()
  })

  test('when it was purged', async () => {
    const service = await startService()
    await service.write(30)
    await service.drained()
    await (await manager()).streams.purge(stream)
    await expectEverything()
  })

  test('when it was purged while events flow', async () => {
    const service = await startService()
    await service.write(30)
    await service.drained()
    let flows = true
    const flowing = (async () => {
      while (flows) await service.write(5)
    })()
    await (await manager()).streams.purge(stream)
    await waitFor(async () => (await service.generation()) > 0)
    flows = false
    await flowing
    await expectEverything()
  })

  const restartServer = async () => {
    await stopServer()
    await startServer()
  }
  const restartRelay = async (service: Service) => {
    await service.pause()
    service.resume()
  }
  describe.each([
    ['the relay', restartRelay],
    ['NATS', restartServer],
  ])('when %s restarts before the loss is noticed', (_, restart) => {
    test('and the stream was purged right at the beginning', async () => {
      const service = await startService()
      await service.write(10)
      await service.drained()
      await (await manager()).streams.purge(stream)
      await service.write(5)
      await service.drained()
      await restart(service)
      await expectEverything()
    })

    test('and the stream was purged during a refill', async () => {
      const service = await startService()
      await service.write(30)
      await service.drained()
      await (await manager()).streams.delete(stream)
      await service.write(1)
      await service.drained()
      await (await manager()).streams.purge(stream)
      await service.write(5)
      await service.drained()
      await restart(service)
      await expectEverything()
    })
  })

  test('when a refill was interrupted, leaving an old copy of an event before its predecessors', async () => {
    const service = await startService()
    await service.writeVersions(3)
    await service.drained()
    await service.pause()
    const { config } = await (await manager()).streams.info(stream)
    await (await manager()).streams.delete(stream)
    await (await manager()).streams.add(config)
    await service.fillPartly({ copied: 3, published: [1, 2] })
    service.resume()
    await service.drained()
    const versions = withoutRepetitions(await streamMessages(link, names)).map(({ event }) => event.version)
    expect(versions).toEqual([1, 2, 3])
  })

  test('when all JetStream data is gone', async () => {
    const service = await startService()
    await service.write(30)
    await service.drained()
    await stopServer()
    rmSync(join(storeDir, 'now'), { recursive: true })
    await service.write(5)
    await startServer()
    await expectEverything()
  })

  test('when its store is restored from an older copy', async () => {
    const service = await startService()
    await service.write(30)
    await service.drained()
    await copyStore()
    await service.write(30)
    await service.drained()
    await setStoreBack()
    await expectEverything()
  })

  test('when it was restored from an older copy, refilled and then purged', async () => {
    const service = await startService()
    // Waits until events are confirmed by a mark alone.
    while ((await service.floor()) < 30) {
      await service.write(5)
      await service.drained()
    }
    await copyStore()
    await service.write(30)
    await service.drained()
    await setStoreBack()
    await expectEverything()
    await service.drained()
    await (await manager()).streams.purge(stream)
    await expectEverything()
  })

  test('when it was restored from an older copy, and another service has extended it since', async () => {
    const [one, other] = [await startService('one'), await startService('other')]
    await Promise.all([one.write(20), other.write(20)])
    await Promise.all([one.drained(), other.drained()])
    await copyStore()
    await one.write(20)
    await one.drained()
    const was = (await (await manager()).streams.info(stream)).state.last_seq
    await one.pause()
    await setStoreBack()
    await other.write(60)
    await other.drained()
    expect((await (await manager()).streams.info(stream)).state.last_seq).toBeGreaterThan(was)
    one.resume()
    await expectEverything()
  })

  test('but not when published messages only expired or were removed by a limit', async () => {
    const service = await startService()
    await service.write(20)
    await service.drained()
    const { config } = await (await manager()).streams.info(stream)
    await (await manager()).streams.update(stream, { ...config, max_msgs: 10 })
    await service.write(20)
    await service.drained()
    await service.pause()
    service.resume()
    await service.write(20)
    await service.drained()
    expect(await service.generation()).toBe(0)
    const { state } = await (await manager()).streams.info(stream)
    expect(state.messages).toBe(10)
  })
})
