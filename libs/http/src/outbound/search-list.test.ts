import { describe, expect, it } from '@jest/globals'
import { parseSearchList, searchNames } from './search-list.js'

describe('the search list of resolv.conf', () => {
  it.each([
    ['', [], 1],
    ['nameserver 10.0.0.10\n# search commented.example\n; search too.example\n', [], 1],
    ['domain one.example\n', ['one.example'], 1],
    ['search a.example\tb.example.\n', ['a.example', 'b.example'], 1],
    ['search a.example\ndomain one.example two.example\n', ['one.example'], 1],
    ['search .\n', [], 1],
    ['search a.example\noptions edns0 ndots:5 rotate\n', ['a.example'], 5],
    ['options ndots:0\noptions timeout:1\n', [], 0],
    ['options ndots:99\n', [], 15],
    ['options ndots:many\r\n', [], 1],
  ])('is parsed from %j', (text, domains, ndots) => {
    expect(parseSearchList(text)).toEqual({ domains, ndots })
  })
})

describe('the DNS names to query', () => {
  const list = { domains: ['a.example', 'b.example'], ndots: 2 }

  it.each([
    ['one', ['one.a.example', 'one.b.example', 'one']],
    ['one.two', ['one.two.a.example', 'one.two.b.example', 'one.two']],
    ['one.two.three', ['one.two.three', 'one.two.three.a.example', 'one.two.three.b.example']],
    ['one.', ['one.']],
  ])('are derived from the search list for %s', (hostname, names) => {
    expect(searchNames(hostname, list)).toEqual(names)
  })

  it('omit names that would be too long', () => {
    const long = Array.from({ length: 5 }, () => 'x'.repeat(48)).join('.')
    expect(searchNames(long, { domains: ['long-domain.example', 'ab.example'], ndots: 1 })).toEqual([long])
    expect(searchNames(long, { domains: ['ab.cd'], ndots: 1 })).toEqual([long, `${long}.ab.cd`])
  })
})
