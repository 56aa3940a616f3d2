import { expect, it } from '@jest/globals'
import { createShares } from './shares.js'

/** A work that ends when it is told to. */
function work() {
  let end: (failure?: Error) => void = () => undefined
  const done = new Promise<string>((resolve, reject) => {
    end = (failure) => (failure ? reject(failure) : resolve('done'))
  })
  return { run: () => done, end }
}
const refused = expect.objectContaining({ code: 'service_unavailable', message: 'Busy.' })

it('lets each workspace have its share, and all of them theirs', async () => {
  const inShare = createShares({ perWorkspace: 1, total: 2 }, 'Busy.')
  const [first, second] = [work(), work()]
  const acme = inShare('acme', first.run)
  await expect(inShare('acme', work().run)).rejects.toEqual(refused)
  const other = inShare('other', second.run)
  await expect(inShare('third', work().run)).rejects.toEqual(refused)

  first.end()
  await expect(acme).resolves.toBe('done')
  const third = work()
  const next = inShare('third', third.run)
  await expect(inShare('acme', work().run)).rejects.toEqual(refused)

  second.end(new Error('failed'))
  await expect(other).rejects.toThrow('failed')
  third.end()
  await next
  await expect(inShare('other', async () => 'again')).resolves.toBe('again')
})
