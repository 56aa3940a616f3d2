import { expect, it } from '@jest/globals'
import { createConcurrencyLimiter } from './concurrency-limiter.js'

/** Work that ends on request. */
function work() {
  let end: (failure?: Error) => void = () => undefined
  const done = new Promise<string>((resolve, reject) => {
    end = (failure) => (failure ? reject(failure) : resolve('done'))
  })
  return { run: () => done, end }
}
const refusal = (max: number) => new Error(`at most ${max}`)
const refused = refusal(1)

it('limits each workspace separately, however many others use theirs', async () => {
  const limiter = createConcurrencyLimiter({ perKey: 1, refusal })
  const first = work()
  const acme = limiter.run('acme', first.run)
  await expect(limiter.run('acme', work().run)).rejects.toEqual(refused)
  const others = Array.from({ length: 5 }, (_, at) => {
    const { run, end } = work()
    return { end, done: limiter.run(`other-${at}`, run) }
  })
  for (const { end } of others) end()
  await expect(Promise.all(others.map(({ done }) => done))).resolves.toHaveLength(5)

  const settled = expect(acme).rejects.toThrow('failed')
  first.end(new Error('failed'))
  await settled
  await expect(limiter.run('acme', async () => 'again')).resolves.toBe('again')
})

it('counts a stream as active until its reader stops', async () => {
  const limiter = createConcurrencyLimiter({ perKey: 1, refusal })
  const endless = () =>
    limiter.stream('acme', async function* () {
      for (let bit = 0; ; bit++) yield bit
    })
  const [first, second] = [endless(), endless()]
  expect((await first.next()).value).toBe(0)
  await expect(second.next()).rejects.toEqual(refused)
  await expect(limiter.run('other', async () => 'done')).resolves.toBe('done')
  await first.return(undefined)
  const third = endless()
  expect((await third.next()).value).toBe(0)
  await third.return(undefined)
})

it('counts amounts by key and in total, and a repeated release only once', () => {
  const limiter = createConcurrencyLimiter({
    total: 100,
    perKey: (key) => (key === 'small' ? 10 : 60),
    refusal,
  })
  const release = limiter.acquire('a', 50)
  expect(() => limiter.acquire('a', 11)).toThrow('at most 60')
  expect(() => limiter.acquire('small', 11)).toThrow('at most 10')
  limiter.acquire('b', 50)
  expect(limiter.tryAcquire('small', 1)).toBeUndefined()
  release()
  release()
  limiter.acquire('a', 50)
  expect(limiter.tryAcquire('small', 1)).toBeUndefined()
})
