import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, describe, expect, test } from '@jest/globals'
import { packLimits } from '@opsplane/contracts'
import fc from 'fast-check'
import { writeTar } from './tar.js'
import { packTarball, unpackTarball } from './tarball.js'

const folder = mkdtempSync(join(tmpdir(), 'opsplane-tar-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** An archive made by `tar` itself, with a top folder as npm creates it. */
function archived(files: Record<string, string>, ...flags: string[]): Buffer {
  const root = mkdtempSync(join(folder, 'files-'))
  for (const [path, text] of Object.entries(files)) {
    const target = join(root, 'package', path)
    mkdirSync(join(target, '..'), { recursive: true })
    if (text.startsWith('-> ')) symlinkSync(text.slice(3), target)
    else writeFileSync(target, text)
  }
  return spawnSync('tar', ['-C', root, ...flags, '-czf', '-', 'package']).stdout
}

const long = `${'deep-folder-name/'.repeat(8)}${'x'.repeat(60)}.ts`

describe('a tarball', () => {
  test.each([['ustar'], ['pax'], ['gnu']])(
    'created by tar in the format %s is unpacked to its texts by path',
    async (format) => {
      const files = { 'opsplane.pack.json': '{}', 'src/a.ts': 'export const ü = 1\n', 'empty.json': '' }
      expect(await unpackTarball(archived(files, `--format=${format}`))).toEqual(files)
    },
  )

  test('with long paths in pax headers is unpacked', async () => {
    expect(await unpackTarball(archived({ [long]: 'x', 'a.ts': '' }, '--format=pax'))).toEqual({
      [long]: 'x',
      'a.ts': '',
    })
  })

  test('is unpacked to the packed files, and has the same bytes for the same files', async () => {
    const path = fc.stringMatching(/^[a-z][a-z0-9]{0,20}(\/[a-z][a-z0-9]{0,20}){0,4}\.ts$/)
    await fc.assert(
      fc.asyncProperty(
        fc.dictionary(path, fc.string({ unit: 'grapheme', maxLength: 2_000 }), {
          minKeys: 1,
          maxKeys: 8,
          noNullPrototype: true,
        }),
        async (files) => {
          const packed = await packTarball(files)
          expect(await unpackTarball(packed)).toEqual(files)
          const backwards = Object.fromEntries(Object.entries(files).reverse())
          expect(await packTarball(backwards)).toEqual(packed)
        },
      ),
      { numRuns: 30 },
    )
  })

  test('can be read by tar', async () => {
    const file = join(folder, 'ours.tgz')
    writeFileSync(file, await packTarball({ [long]: 'text', 'b.ts': 'b' }))
    const listed = spawnSync('tar', ['-tzf', file]).stdout.toString().trim().split('\n')
    expect(listed.sort()).toEqual([`package/${long}`, 'package/b.ts'].sort())
  })
})

const packed = (path: string, bytes = Buffer.from('x')) => gzipSync(writeTar([{ path, bytes }]))

test.each<[string, () => Buffer, string]>([
  ['no gzip', () => Buffer.from('text'), 'gzip'],
  ['no tar', () => gzipSync(Buffer.alloc(1_024, 7)), 'no tar'],
  ['nothing at all', () => gzipSync(Buffer.alloc(0)), 'no end'],
  [
    'cut short',
    () => gzipSync(writeTar([{ path: 'a', bytes: Buffer.alloc(2_000) }]).subarray(0, 1_500)),
    'cut short',
  ],
  ['a way out', () => packed('../../etc/passwd'), 'no path'],
  ['an absolute path', () => packed('/etc/passwd'), 'no path'],
  ['a hidden way out', () => packed('src/../../x'), 'no path'],
  ['no text', () => packed('a.ts', Buffer.from([0xff, 0xfe])), 'UTF-8'],
  ['a link', () => archived({ 'a.ts': 'x', 'b.ts': '-> /etc/passwd' }), 'no regular file'],
  ['a bomb', () => gzipSync(Buffer.alloc(packLimits.totalBytes * 4)), 'more than'],
  [
    'a path twice',
    () => gzipSync(writeTar(['a.ts', 'a.ts'].map((path) => ({ path, bytes: Buffer.from('x') })))),
    'twice',
  ],
  [
    'too many files',
    () =>
      gzipSync(
        writeTar(Array.from({ length: 202 }, (_, at) => ({ path: `f${at}`, bytes: Buffer.alloc(0) }))),
      ),
    'more than 200',
  ],
])('unpacking is refused for a tarball with %s', async (_, bytes, message) => {
  await expect(unpackTarball(bytes())).rejects.toThrow(message)
})

test('unpacking arbitrary bytes causes no other error than TarballError', async () => {
  const bytes = fc.uint8Array({ minLength: 0, maxLength: 3_000 })
  await fc.assert(
    fc.asyncProperty(bytes, fc.nat(2_000), async (noise, at) => {
      const archive = Buffer.from(writeTar([{ path: 'a.ts', bytes: Buffer.alloc(600) }]))
      archive.set(noise.subarray(0, Math.max(archive.length - at, 0)), Math.min(at, archive.length))
      const outcome = await unpackTarball(gzipSync(archive)).catch((error: Error) => error)
      if (outcome instanceof Error) expect(outcome.constructor.name).toBe('TarballError')
    }),
    { numRuns: 100 },
  )
})
