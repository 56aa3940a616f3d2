import { describe, expect, it } from '@jest/globals'
import { createPasswords } from './passwords.js'

describe('passwords', () => {
  it('match only their own hash, which is Argon2id at the agreed cost', async () => {
    const passwords = createPasswords({ concurrency: 2, maxWaiting: 8 })
    const hash = await passwords.hash('correct horse battery')
    expect(hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
    expect(await passwords.matches('correct horse battery', hash)).toBe(true)
    expect(await passwords.matches('correct horse batterx', hash)).toBe(false)
  })

  it('never match an unknown login, not even the password behind its dummy hash', async () => {
    const passwords = createPasswords({ concurrency: 1, maxWaiting: 8 })
    expect(await passwords.matches('no password has this hash', null)).toBe(false)
  })

  it('wait for a free slot, and are refused when too many are waiting', async () => {
    const passwords = createPasswords({ concurrency: 1, maxWaiting: 1 })
    const first = passwords.hash('first password')
    const second = passwords.hash('second password')
    await expect(passwords.hash('third password')).rejects.toMatchObject({ code: 'service_unavailable' })
    expect(await Promise.all([first, second])).toHaveLength(2)
    expect(await passwords.hash('fourth password')).toContain('$argon2id$')
  })
})
