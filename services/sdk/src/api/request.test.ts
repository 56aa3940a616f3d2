import { describe, expect, it } from '@jest/globals'
import type { RawRequest } from '@opsplane/http'
import { buildArtifactRequest } from './request.js'

const form = (text: string) => {
  const request = {
    ...{ method: 'POST', path: '/api/service-sdk/acme/tool', query: {} },
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: Buffer.from(text),
  }
  return buildArtifactRequest(request as unknown as RawRequest, { headers: [] } as never, 3).body
}

describe('a form body', () => {
  it('has a string for each field, and a list for a repeated one', () => {
    expect(form('a=1&b=x+y&a=2&__proto__=3&c')).toEqual(
      Object.fromEntries([
        ['a', ['1', '2']],
        ['b', 'x y'],
        ['__proto__', '3'],
        ['c', ''],
      ]),
    )
  })

  it('has a maximum number of fields, and is parsed in linear time', () => {
    const field = 'a=1&'
    expect(form(field.repeat(10_000))).toMatchObject({ a: { length: 10_000 } })
    expect(() => form(field.repeat(250_000))).toThrow('more than 10000 fields')
  })
})
