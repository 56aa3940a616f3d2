import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, test } from '@jest/globals'
import { bundle } from './bundle.js'
import { toBundlePath } from './place.js'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const entry = 'deploy/bundler/dist/evaluate.fixture.js'
const place = join(root, toBundlePath(entry))
afterAll(() => rmSync(dirname(place), { recursive: true, force: true }))

const run = (file: string, cwd: string) => spawnSync(process.execPath, [file], { encoding: 'utf8', cwd })

test('a program finds the files of its child processes, both compiled and bundled', async () => {
  await bundle({ root, entries: [entry] })
  for (const file of [join(root, entry), place]) {
    const { stdout, stderr } = run(file, '/')
    expect({ stdout, stderr }).toEqual({
      stdout: '[{"ok":true,"value":42},{"status":"completed","output":42}]',
      stderr: '',
    })
  }
})
