import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { keepNewest, nextBackup } from './backups-folder.js'
import { beginBackup } from './folder.js'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'opsplane-backups-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const make = (...names: string[]) => {
  for (const name of names) {
    mkdirSync(join(folder, name))
    writeFileSync(join(folder, name, 'manifest.json'), '{}')
  }
}
const at = new Date('2026-11-28T02:17:09.500Z')

describe('folder of backups', () => {
  test('names a new backup by its time', async () => {
    expect(await nextBackup(folder, at)).toBe(join(folder, '2026-11-28T02-17-09Z'))
  })

  test('a new backup removes interrupted ones, and keeps complete ones and those with other names', async () => {
    make(
      '2026-11-26T02-17-00Z',
      '2026-11-27T02-17-00Z.partial',
      '2026-11-25T02-17-00Z.removed',
      'by-hand.partial',
    )
    make('2026-11-25T02-17-00Z.partial')
    await nextBackup(folder, at)
    expect(readdirSync(folder).sort()).toEqual(['2026-11-26T02-17-00Z', 'by-hand.partial'])
  })

  test.each([
    [1, ['2026-11-28T00-00-00Z']],
    [2, ['2026-11-27T00-00-00Z', '2026-11-28T00-00-00Z']],
    [3, ['2025-12-31T00-00-00Z', '2026-11-27T00-00-00Z', '2026-11-28T00-00-00Z']],
    [9, ['2025-12-31T00-00-00Z', '2026-11-27T00-00-00Z', '2026-11-28T00-00-00Z']],
  ])('keeps the newest backups (%d) and does not count other names', async (keep, kept) => {
    make(
      '2026-11-28T00-00-00Z',
      '2025-12-31T00-00-00Z',
      '2026-11-27T00-00-00Z',
      '2026-11-29',
      'before-upgrade',
    )
    const removed = await keepNewest(folder, keep)
    expect(readdirSync(folder).sort()).toEqual([...kept, '2026-11-29', 'before-upgrade'].sort())
    expect(removed).toHaveLength(3 - kept.length)
  })

  test('the error for a missing folder names it', async () => {
    await expect(nextBackup(join(folder, 'none'), at)).rejects.toThrow(
      `${join(folder, 'none')} cannot be read (ENOENT).`,
    )
  })

  test('a backup fails and leaves nothing behind when another one begins in the meantime', async () => {
    const first = await beginBackup(await nextBackup(folder, at), ['postgres'])
    await nextBackup(folder, new Date(at.getTime() + 60_000))
    expect(() => writeFileSync(first.path('postgres/1'), 'rows')).toThrow('ENOENT')
    await expect(first.finish({} as never)).rejects.toThrow('ENOENT')
    expect(readdirSync(folder)).toEqual([])
  })
})
