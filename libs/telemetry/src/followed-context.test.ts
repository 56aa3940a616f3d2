import { expect, test } from '@jest/globals'
import { createContextKey, ROOT_CONTEXT } from '@opentelemetry/api'
import { followedContext } from './followed-context.js'

const key = createContextKey('test')
const of = (value: string) => ROOT_CONTEXT.setValue(key, value)

test('what is under way is kept through all that is awaited, apart from what goes on beside it', async () => {
  const manager = followedContext()
  const seen = () => manager.active().getValue(key)
  const turns = async () => {
    const first = seen()
    await new Promise((resolve) => setImmediate(resolve))
    return [first, seen()]
  }
  const [one, other, none] = await Promise.all([
    manager.with(of('one'), turns),
    manager.with(of('other'), turns),
    turns(),
  ])
  expect([one, other, none]).toEqual([
    ['one', 'one'],
    ['other', 'other'],
    [undefined, undefined],
  ])
})

test('one that ends takes nothing from another, and one within another gives it back', async () => {
  const manager = followedContext()
  const seen = () => manager.active().getValue(key)
  let end = () => {}
  const long = manager.with(of('long'), async () => {
    await new Promise<void>((resolve) => {
      end = resolve
    })
    return [await manager.with(of('inner'), async () => seen()), seen()]
  })
  await manager.with(of('short'), async () => {})
  expect(manager.with(of('now'), () => seen())).toBe('now')
  expect(() =>
    manager.with(of('now'), () => {
      throw new Error('fails')
    }),
  ).toThrow('fails')
  await expect(manager.with(of('short'), () => Promise.reject(new Error('fails')))).rejects.toThrow('fails')
  end()
  expect(await long).toEqual(['inner', 'long'])
  expect(seen()).toBeUndefined()
})

test('what is bound is called with what was under way, whenever that is', async () => {
  const manager = followedContext()
  const bound = manager.bind(of('bound'), (text: string) => [text, manager.active().getValue(key)])
  await manager.with(of('other'), async () => {})
  expect(bound('later')).toEqual(['later', 'bound'])
  expect(manager.bind(of('bound'), 7)).toBe(7)
})

/** Later ones keep what is under way without hooks into promises. */
const hasHooks = Number.parseInt(process.versions.node, 10) < 24
const whereHooked = hasHooks ? test : test.skip

whereHooked('nothing is kept once nothing is under way any more', async () => {
  const manager = followedContext()
  const seen: unknown[] = []
  const look = (done: () => void) =>
    setImmediate(() => {
      seen.push(manager.active().getValue(key))
      done()
    })
  const within = await manager.with(of('one'), async () => {
    await new Promise<void>(look)
    return [new Promise<void>(look)]
  })
  await Promise.all(within)
  expect(seen).toEqual(['one', undefined])
})
