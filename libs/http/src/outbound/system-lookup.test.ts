import type { LookupAddress } from 'node:dns'
import { describe, expect, it } from '@jest/globals'
import { createBoundedLookup } from './system-lookup.js'

const address = { address: '10.0.0.1', family: 4 }

/** A bounded lookup whose lookups end on demand. */
function controlled() {
  const begun: string[] = []
  const ends = new Map<string, { resolve(found: LookupAddress[]): void; reject(error: Error): void }>()
  const lookup = createBoundedLookup((hostname) => {
    begun.push(hostname)
    return new Promise((resolve, reject) => ends.set(hostname, { resolve, reject }))
  })
  return {
    begun,
    begin: (hostname: string, limit = new AbortController()) => lookup(hostname, limit.signal),
    succeed: (hostname: string) => ends.get(hostname)?.resolve([address]),
    fail: (hostname: string) => ends.get(hostname)?.reject(new Error(`${hostname} failed`)),
  }
}

describe('the bounded lookup', () => {
  it('resolves two names concurrently and queues the others', async () => {
    const { begun, begin, succeed, fail } = controlled()
    const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((name) => begin(name))
    await Promise.resolve()
    expect(begun).toEqual(['a', 'b'])

    succeed('b')
    expect(await b).toEqual([address])
    expect(begun).toEqual(['a', 'b', 'c'])

    fail('a')
    await expect(a).rejects.toThrow('a failed')
    expect(begun).toEqual(['a', 'b', 'c', 'd'])

    for (const name of ['c', 'd']) succeed(name)
    expect(await Promise.all([c, d])).toEqual([[address], [address]])
    const again = ['e', 'f'].map((name) => begin(name))
    await Promise.resolve()
    expect(begun).toEqual(['a', 'b', 'c', 'd', 'e', 'f'])
    for (const name of ['e', 'f']) succeed(name)
    await Promise.all(again)
  })

  it('drops a queued lookup whose caller aborts', async () => {
    const { begun, begin, succeed } = controlled()
    const limit = new AbortController()
    const first = ['a', 'b'].map((name) => begin(name))
    const impatient = begin('c', limit)
    const patient = begin('d')
    limit.abort(new Error('No longer.'))
    await expect(impatient).rejects.toThrow('No longer.')

    succeed('a')
    await first[0]
    expect(begun).toEqual(['a', 'b', 'd'])
    for (const name of ['b', 'd']) succeed(name)
    expect(await Promise.all([...first, patient])).toHaveLength(3)
  })

  it('does not start for a caller that has already aborted', async () => {
    const { begun, begin } = controlled()
    const limit = new AbortController()
    limit.abort(new Error('No longer.'))
    await expect(begin('a', limit)).rejects.toThrow('No longer.')
    expect(begun).toEqual([])
  })
})
