import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from '@jest/globals'
import { z } from 'zod'
import { importedBy } from './imports.js'

const root = fileURLToPath(new URL('../../../../', import.meta.url))
const without = new Set(['node_modules', 'dist', 'bundle', 'src'])

/** Compiled folders: those with a `tsconfig.json` next to `src`. */
function compiledBelow(folder: string): string[] {
  const entries = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory())
  const isOne = existsSync(join(folder, 'src')) && existsSync(join(folder, 'tsconfig.json'))
  const below = entries.filter(({ name }) => !name.startsWith('.') && !without.has(name))
  return [...(isOne ? [folder] : []), ...below.flatMap(({ name }) => compiledBelow(join(folder, name)))]
}

const compiled = compiledBelow(root).map((folder) => relative(root, folder))
const sourcesIn = (path: string) =>
  readdirSync(join(root, path, 'src'), { recursive: true, encoding: 'utf8' }).filter((name) =>
    /(?<!\.d)\.tsx?$/.test(name),
  )

test.each(compiled)('%s imports other packages by their names only', (path) => {
  const src = join(root, path, 'src')
  const outside = sourcesIn(path).flatMap((file) =>
    importedBy(readFileSync(join(src, file), 'utf8'))
      // The output of a bundler test imports folders that do not exist here.
      .filter((imported) => existsSync(dirname(join(src, dirname(file), imported))))
      .filter((imported) => normalize(join(dirname(file), imported)).startsWith('..'))
      .map((imported) => `${file} imports ${imported}`),
  )
  expect(outside).toEqual([])
})

const Project = z.object({ include: z.array(z.string()) })
const Manifest = z.object({ scripts: z.object({ types: z.string() }) })
const jsonOf = (file: string): unknown => JSON.parse(readFileSync(join(root, file), 'utf8'))

/** `libs/*` and the like, which the root project includes, and separate projects in `npm run types`. */
const { include } = Project.parse(jsonOf('tsconfig.json'))
const projects = Manifest.parse(jsonOf('package.json')).scripts.types.split(' ')

test.each(compiled)('the types of %s are checked', (path) => {
  const patterns = [path, `${dirname(path)}/*`].map((folder) => `${folder}/src`)
  expect(projects.includes(path) || patterns.some((pattern) => include.includes(pattern))).toBe(true)
})
