import { describe, expect, it } from '@jest/globals'
import { parseMailbox } from './mailbox.js'

describe('a mailbox', () => {
  it('is an address with or without a display name', () => {
    expect(parseMailbox('ops@example.com')).toEqual({ name: '', address: 'ops@example.com' })
    expect(parseMailbox('Opsplane <ops@example.com>')).toEqual({
      name: 'Opsplane',
      address: 'ops@example.com',
    })
  })

  it.each(['Opsplane', 'ops@', '<ops@example.com', 'Ops\nBcc: eve@example.com <ops@example.com>'])(
    '%j is invalid',
    (text) => {
      expect(parseMailbox(text)).toBeNull()
    },
  )
})
