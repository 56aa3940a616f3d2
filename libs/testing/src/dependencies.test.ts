import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from '@jest/globals'
import { z } from 'zod'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const Manifest = z.object({ dependencies: z.record(z.string(), z.string()).default({}) })

const packages = ['libs', 'services', 'deploy']
  .flatMap((folder) => readdirSync(`${root}${folder}`).map((name) => `${folder}/${name}`))
  .concat('cli', 'client')
  .filter((path) => existsSync(`${root}${path}/package.json`))

test.each(packages)('%s depends on released versions only', (path) => {
  const manifest = Manifest.parse(JSON.parse(readFileSync(`${root}${path}/package.json`, 'utf8')))
  const versions = Object.entries(manifest.dependencies)
  // `workspace:*`, or one exact version without a pre-release part.
  expect(versions.filter(([, version]) => !/^(workspace:\*|\d+\.\d+\.\d+)$/.test(version))).toEqual([])
})

test('set-up builds its tools from fixed versions', () => {
  const setUp = ['bootstrap', 'nats-server'].map((name) =>
    readFileSync(`${root}deploy/local/${name}.mjs`, 'utf8'),
  )
  expect(setUp.join()).not.toMatch(/@latest/)
  expect(setUp[1]).toMatch(/^const version = '\d+\.\d+\.\d+'$/m)
  expect(setUp[1]?.match(/--hash=sha256:[0-9a-f]{64}'/g)).toHaveLength(3)
})
