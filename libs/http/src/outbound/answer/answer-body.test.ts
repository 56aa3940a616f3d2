import { describe, expect, test } from '@jest/globals'
import { answerBody, answerText } from './answer-body.js'

const read = (type: string | undefined, body: Buffer | string, truncated = false) =>
  answerBody({
    headers: type === undefined ? {} : { 'content-type': type },
    ...{ body: Buffer.from(body as string), truncated },
  })
const latin1 = (text: string) => Buffer.from(text, 'latin1')
const text = (body: string) => ({ encoding: 'text', body })
const json = (body: unknown) => ({ encoding: 'json', body })
const base64 = (body: Buffer) => ({ encoding: 'base64', body: body.toString('base64') })
const png = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00])
const deep = '['.repeat(30_000) + ']'.repeat(30_000)
const utf16 = Buffer.from('\ufeffgrün', 'utf16le')

describe('a response body', () => {
  test.each<[string, string | undefined, Buffer | string, object]>([
    ['nothing', 'application/json', '', { encoding: 'none', body: null }],
    ['JSON', 'application/json', '{"a":"grün"}', json({ a: 'grün' })],
    ['JSON of a kind', 'application/problem+json; charset=utf-8', '[1]', json([1])],
    ['JSON with a mark', 'application/json', '\ufeff[1]', json([1])],
    [
      'JSON, which is UTF-8 whatever its charset',
      'application/json; charset=iso-8859-1',
      '"grün"',
      json('grün'),
    ],
    ['JSON in Latin-1, which is none', 'application/json', latin1('"grün"'), base64(latin1('"grün"'))],
    ['no JSON', 'application/json', 'grün', text('grün')],
    ['JSON that is nested too deep', 'application/json', deep, text(deep)],
    ['text in UTF-8', 'text/plain; charset=utf-8', 'grün', text('grün')],
    ['text in Latin-1', 'text/plain; charset=ISO-8859-1', latin1('grün'), text('grün')],
    [
      'text in Windows-1252',
      'text/csv; header=present; charset="windows-1252"',
      Buffer.from([0x80]),
      text('€'),
    ],
    ['text in Shift JIS', 'text/plain;charset=shift_jis', Buffer.from([0x93, 0xfa]), text('日')],
    ['text in UTF-16', 'text/plain; charset=utf-16', Buffer.from('grün', 'utf16le'), text('grün')],
    ['text in UTF-16 by its mark', 'text/plain', utf16, text('grün')],
    ['text without a charset', 'text/plain', 'grün', text('grün')],
    ['text in no charset it says', 'text/plain', latin1('grün'), base64(latin1('grün'))],
    ['text in another one than it says', 'text/plain; charset=utf-8', latin1('grün'), base64(latin1('grün'))],
    ['text in an unknown charset', 'text/plain; charset=klingon', 'Qapla', base64(Buffer.from('Qapla'))],
    [
      'XML that declares its own',
      'application/xml',
      latin1('<?xml version="1.0" encoding="ISO-8859-1"?><ü/>'),
      text('<?xml version="1.0" encoding="ISO-8859-1"?><ü/>'),
    ],
    [
      'HTML that declares its own',
      'text/html',
      latin1('<meta charset="latin1"><p>ü'),
      text('<meta charset="latin1"><p>ü'),
    ],
    ['SVG', 'image/svg+xml', '<svg/>', text('<svg/>')],
    ['an image', 'image/png', png, base64(png)],
    ['an image that spells something', 'image/gif', 'GIF89a', base64(Buffer.from('GIF89a'))],
    ['bytes', 'application/octet-stream', png, base64(png)],
    ['bytes that are text', 'application/octet-stream', 'a,b', text('a,b')],
    ['bytes of nothing known', undefined, png, base64(png)],
    ['text with a zero byte', 'text/plain', 'a\0b', base64(Buffer.from('a\0b'))],
  ])('is decoded: %s', (_, type, body, expected) => expect(read(type, body)).toEqual(expected))

  test('that is truncated ends with a whole character, in any charset', () => {
    const cut = (charset: string, bytes: Buffer) => read(`text/plain; charset=${charset}`, bytes, true)
    for (const end of [1, 2, 3])
      expect(cut('utf-8', Buffer.from('a🦉').subarray(0, 1 + end))).toEqual(text('a'))
    expect(cut('utf-16le', Buffer.from('ab', 'utf16le').subarray(0, 3))).toEqual(text('a'))
    expect(read('application/json', '{"a":', true)).toEqual(text('{"a":'))
  })

  test.each(['text/plain', 'application/octet-stream', 'image/png', 'text/html'])(
    'of %s is decoded without loss: every pair of bytes can be recovered',
    (type) => {
      for (let pair = 0; pair < 0x10000; pair++) {
        const sent = Buffer.from([pair >> 8, pair & 0xff, 0x61, 0x00].slice(0, type === 'text/html' ? 3 : 2))
        if (type !== 'image/png' && /^(?:fffe|feff)/.test(sent.toString('hex'))) continue
        const { encoding, body } = read(type, sent)
        const back = Buffer.from(body as string, encoding === 'base64' ? 'base64' : 'utf8')
        if (!back.equals(sent))
          throw new Error(`${sent.toString('hex')} came back as ${back.toString('hex')}`)
      }
    },
  )

  test('is decoded in part where only an excerpt is shown', () => {
    const answer = { headers: { 'content-type': 'text/plain' }, body: Buffer.from('grün'), truncated: false }
    expect(answerText(answer, 3)).toEqual(text('gr'))
    expect(answerText(answer)).toEqual(text('grün'))
  })
})
