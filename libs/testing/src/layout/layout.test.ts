import { readdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from '@jest/globals'
import { circularArrows } from './circles.js'
import { arrowsWithin, importedBy, sourcesBelow } from './imports.js'

const root = fileURLToPath(new URL('../../../../', import.meta.url))
const packagesIn = (folder: string) =>
  readdirSync(`${root}${folder}`, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => `${folder}/${name}`)
const services = packagesIn('services')

describe('the folders of a service', () => {
  test.each(services)('%s: import each other without cycles', (path) => {
    expect(circularArrows(arrowsWithin(`${root}${path}/src`))).toEqual([])
  })

  test('are reported if imports, including those of types, form a cycle', () => {
    const arrows = [
      { from: 'incident/links.ts', to: 'problem/queries.ts' },
      { from: 'problem/cascade.ts', to: 'change/over.ts' },
      { from: 'change/resume.ts', to: 'incident/domain.ts' },
      { from: 'change/routes.ts', to: 'lists/filters.ts' },
      { from: 'change/routes.ts', to: 'change/domain.ts' },
    ]
    expect(circularArrows(arrows)).toEqual([
      'incident/links.ts -> problem/queries.ts',
      'problem/cascade.ts -> change/over.ts',
      'change/resume.ts -> incident/domain.ts',
    ])
    expect(circularArrows(arrows.slice(1))).toEqual([])
  })

  test('are connected by every kind of import', () => {
    const source = `import type { A } from './a.js'
      import {
        b,
      } from '../b/b.js'
      export * from './c.js'
      const d = await import('./d.js')
      import { z } from 'zod'`
    expect(importedBy(source)).toEqual(['./a.js', '../b/b.js', './c.js', './d.js'])
  })
})

test.each([...services, ...packagesIn('libs'), 'cli', 'client', 'console', 'bench', ...packagesIn('deploy')])(
  '%s: no folder has more than 30 source files',
  (path) => {
    const inFolder = new Map<string, number>()
    for (const file of sourcesOf(path)) inFolder.set(dirname(file), (inFolder.get(dirname(file)) ?? 0) + 1)
    expect([...inFolder].filter(([, files]) => files > 30)).toEqual([])
  },
)

const sourcesOf = (path: string) =>
  readdirSync(`${root}${path}`).includes('src') ? sourcesBelow(`${root}${path}/src`) : []
