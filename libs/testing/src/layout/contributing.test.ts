import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from '@jest/globals'
import { z } from 'zod'

const root = fileURLToPath(new URL('../../../../', import.meta.url))
const text = readFileSync(`${root}CONTRIBUTING.md`, 'utf8')
const Manifest = z.object({ scripts: z.record(z.string(), z.string()) })
const { scripts } = Manifest.parse(JSON.parse(readFileSync(`${root}package.json`, 'utf8')))

const recipes = text
  .slice(text.indexOf('## Recipes'), text.indexOf('## House rules'))
  .split('\n### ')
  .slice(1)
const pathsIn = (markdown: string) =>
  [
    ...markdown.matchAll(
      /`((?:bench|cli|client|console|deploy|docs|helm|libs|services|test-e2e)(?:\/[\w.-]+)*\/?)`/g,
    ),
  ].map(([, path = '']) => path)
const linksIn = (markdown: string) => [...markdown.matchAll(/\]\(([\w./-]+)\)/g)].map(([, path = '']) => path)

test('CONTRIBUTING.md has at most 12,000 bytes, so that it can be read in one sitting', () => {
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(12_000)
})

test('CONTRIBUTING.md names and links only existing files', () => {
  const named = [...pathsIn(text), ...linksIn(text)]
  expect(named.length).toBeGreaterThan(40)
  expect(named.filter((path) => !existsSync(`${root}${path}`))).toEqual([])
})

describe.each(recipes.map((recipe) => [recipe.split('\n')[0] ?? '', recipe] as const))('%s', (_, recipe) => {
  const commands = [...recipe.matchAll(/```sh\n([\s\S]*?)```/g)].flatMap(([, block = '']) =>
    block
      .split('\n')
      .map((line) => line.trim())
      .filter(Boolean),
  )

  test('names existing files and scripts of package.json', () => {
    expect(pathsIn(recipe).length).toBeGreaterThanOrEqual(2)
    expect(commands.length).toBeGreaterThanOrEqual(1)
    const unknown = commands.filter((command) => {
      const [, script = ''] = /^npm (?:run )?([\w:]+)/.exec(command) ?? []
      return scripts[script] === undefined
    })
    expect(unknown).toEqual([])
  })

  test('runs commands for existing services and tests', () => {
    const services = commands.flatMap(
      (command) => /^npm run migration -- (\w[\w-]*)/.exec(command)?.[1] ?? [],
    )
    expect(services.filter((name) => !existsSync(`${root}services/${name}/migrations`))).toEqual([])
    const tests = commands.flatMap((command) => /^npm test -- (\S+)/.exec(command)?.[1] ?? [])
    const missing = tests.filter(
      (path) => path.includes('/') && !existsSync(`${root}${path.replace('/dist', '/src')}`),
    )
    expect(missing).toEqual([])
  })
})

test('CONTRIBUTING.md has a recipe for each of the most frequent additions', () => {
  expect(recipes.map((recipe) => recipe.split('\n')[0])).toEqual([
    'Add an entity',
    'Add a connector kind',
    'Add a route',
    'Add a migration',
  ])
})
