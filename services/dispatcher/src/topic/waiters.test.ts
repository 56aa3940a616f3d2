import { describe, expect, it } from '@jest/globals'
import { Waiters } from './waiters.js'

const alive = new AbortController().signal

function setUp() {
  const clock = { ms: 0 }
  return { clock, waiters: new Waiters(() => clock.ms) }
}

describe('the waiters', () => {
  it('are woken by their own subject', async () => {
    const { waiters } = setUp()
    const [one, other] = [waiters.add('a', 1_000, alive), waiters.add('b', 1_000, alive)]
    const [oneNews, otherNews] = [one.news(), other.news()]
    waiters.wake('a')
    expect(await oneNews).toBe(true)
    waiters.wake('b')
    expect(await otherNews).toBe(true)
    for (const waiter of [one, other]) waiters.remove(waiter)
    expect(waiters.size).toBe(0)
  })

  it('keep a wake-up that arrives before they wait, once', async () => {
    const { waiters } = setUp()
    const waiter = waiters.add('a', 1_000, alive)
    waiters.wake('a')
    waiters.wake('a')
    expect(await waiter.news()).toBe(true)
    const next = waiter.news()
    waiters.wakeAll()
    expect(await next).toBe(true)
    waiters.remove(waiter)
  })

  it('end at their timeout, and not before', async () => {
    const { clock, waiters } = setUp()
    const [short, long] = [waiters.add('a', 100, alive), waiters.add('a', 1_000, alive)]
    const ended: string[] = []
    const shortNews = short.news().then((news) => ended.push(`short ${news}`))
    const longNews = long.news().then((news) => ended.push(`long ${news}`))
    clock.ms = 99
    waiters.sweep()
    clock.ms = 100
    waiters.sweep()
    await shortNews
    expect(ended).toEqual(['short false'])
    clock.ms = 1_000
    waiters.sweep()
    await longNews
    expect(ended).toEqual(['short false', 'long false'])
    for (const waiter of [short, long]) waiters.remove(waiter)
  })

  it('end when the client disconnects, even before they wait', async () => {
    const { waiters } = setUp()
    const client = new AbortController()
    const waiter = waiters.add('a', 1_000, client.signal)
    const news = waiter.news()
    client.abort()
    expect(await news).toBe(false)
    waiters.remove(waiter)
    const late = waiters.add('a', 1_000, client.signal)
    expect(await late.news()).toBe(false)
    waiters.remove(late)
    expect(waiters.size).toBe(0)
  })

  it('end when the service stops, and later ones end immediately', async () => {
    const { waiters } = setUp()
    const waiter = waiters.add('a', 1_000, alive)
    const news = waiter.news()
    waiters.drain()
    expect(await news).toBe(false)
    const late = waiters.add('b', 1_000, alive)
    expect(await late.news()).toBe(false)
    for (const each of [waiter, late]) waiters.remove(each)
  })
})
