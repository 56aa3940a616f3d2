import { describe, expect, it } from '@jest/globals'
import { seededRandom } from '@opsplane/testing'
import { requireUtf8 } from './utf8-lines.js'

const random = seededRandom(35)

/** Splits the bytes into parts, also within characters. */
async function* inParts(bytes: Buffer, most: number) {
  for (let from = 0; from < bytes.length; ) {
    const length = 1 + Math.floor(random() * most)
    yield bytes.subarray(from, from + length)
    from += length
  }
}
async function passed(bytes: Buffer, most: number): Promise<Buffer> {
  const parts: Buffer[] = []
  for await (const part of requireUtf8(inParts(bytes, most))) parts.push(part)
  return Buffer.concat(parts)
}

const text = 'name\nJürgen\n漢字\n🙂\r\nend'

describe('a file that arrives in chunks', () => {
  it.each([1, 2, 5, 100])('is accepted as UTF-8 in chunks of at most %i bytes', async (most) => {
    for (let round = 0; round < 20; round++)
      expect(await passed(Buffer.from(text), most)).toEqual(Buffer.from(text))
  })

  it.each([
    ['Latin-1', Buffer.from('name\na\nJürgen\nb', 'latin1'), 3],
    ['UTF-16', Buffer.from('\ufeffname\na', 'utf16le'), 1],
    [
      'a character that is not whole',
      Buffer.from(text).subarray(0, Buffer.byteLength('name\nJürgen\n漢') - 1),
      3,
    ],
    ['a character too long for itself', Buffer.from([0x61, 0x0a, 0xc0, 0x80, 0x0a]), 2],
  ])('is rejected with the line that is not UTF-8: %s', async (_what, bytes, line) => {
    for (const most of [1, 3, 100])
      await expect(passed(bytes, most)).rejects.toMatchObject({
        code: 'validation_failed',
        details: [
          { in: 'body', code: 'invalid_encoding', message: `line ${line} is not UTF-8`, params: { line } },
        ],
      })
  })
})
