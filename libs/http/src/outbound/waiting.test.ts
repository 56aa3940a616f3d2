import { Socket } from 'node:net'
import { describe, expect, it } from '@jest/globals'
import { createWaiting, type Visit } from './waiting.js'

const origin = 'https://example.com'

/** Begins so many requests, and tells which of them have had their turn. */
function begun(waiting: ReturnType<typeof createWaiting>, count: number) {
  const turns = new Set<number>()
  const visits = Array.from({ length: count }, (_, at): Visit => {
    const visit = waiting.begin(origin)
    void visit.turn.then(() => turns.add(at))
    return visit
  })
  const sent = async () => {
    await Promise.resolve()
    return [...turns]
  }
  return { visits, sent }
}

const first = (count: number) => Array.from({ length: count }, (_, at) => at)

describe('requests to one origin', () => {
  it('have few connections opened at a time, in the order they came', async () => {
    const waiting = createWaiting()
    const { sent } = begun(waiting, 40)
    expect(await sent()).toEqual(first(8))
    const opened = waiting.whileWaitedFor(origin, () => {})
    opened(new Socket())
    expect(await sent()).toEqual(first(9))
    waiting.whileWaitedFor(origin, () => {})(undefined)
    expect(await sent()).toEqual(first(9))
  })

  it('take over the connection of one that has ended', async () => {
    const waiting = createWaiting()
    const { visits, sent } = begun(waiting, 40)
    visits[3]?.end()
    expect(await sent()).toEqual(first(9))
  })

  it('give their place in the line up when they end before their turn', async () => {
    const waiting = createWaiting()
    const { visits, sent } = begun(waiting, 11)
    visits[9]?.end()
    for (const at of [0, 1, 2]) visits[at]?.end()
    expect(await sent()).toEqual([...first(9), 10])
  })

  it('are as many as there are connections, and a few more', async () => {
    const waiting = createWaiting()
    const sockets = first(30).map(() => new Socket())
    const { visits, sent } = begun(waiting, 1)
    for (const socket of sockets) waiting.whileWaitedFor(origin, () => {})(socket)
    const others = begun(waiting, 60)
    expect(await others.sent()).toHaveLength(37)
    for (const socket of sockets) socket.emit('close')
    visits[0]?.end()
    for (const visit of others.visits.slice(0, 30)) visit.end()
    expect(await others.sent()).toHaveLength(38)
    expect(await sent()).toEqual([0])
  })

  it('do not wait for those of another one', async () => {
    const waiting = createWaiting()
    begun(waiting, 40)
    await waiting.begin('https://example.org').turn
  })
})
