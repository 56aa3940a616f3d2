import { readFileSync, statSync } from 'node:fs'
import { describe, expect, test } from '@jest/globals'

/** The output of the bundler: `npm run build`. */
const folder = new URL('../bundle/', import.meta.url)
type Outputs = Record<string, { source?: string; imports: string[]; later: string[] }>
const outputs = JSON.parse(readFileSync(new URL('outputs.json', folder), 'utf8')) as Outputs
const { style } = JSON.parse(readFileSync(new URL('assets.json', folder), 'utf8')) as { style: string }

const kilobyte = 1_024
/** Compressed transfer size. Fonts are not counted: they are the same for every page and cached permanently. */
const weightOf = (files: Iterable<string>) =>
  [...files].reduce((sum, file) => sum + statSync(new URL(`${file}.br`, folder)).size, 0)

const fileOf = (source: string) => {
  const found = Object.entries(outputs).find(([, output]) => output.source === source)
  if (found === undefined) throw new Error(`Nothing was bundled of ${source}.`)
  return found[0]
}

/** The files that a page requires: the bundles of its sources and their static imports. */
function filesOf(sources: readonly string[]): Set<string> {
  const files = new Set(sources.map(fileOf))
  for (const file of files) for (const each of outputs[file]?.imports ?? []) files.add(each)
  return files
}

const main = 'console/dist/main.js'
const start = 'console/dist/shell/start.js'
const shell = 'console/dist/shell/shell.js'
const area = (path: string) => `console/dist/areas/${path}.js`

const lists = [
  ...['failed-now/failed-now', 'deliveries/deliveries', 'webhooks/webhooks', 'events/events'],
  ...['topics/topics', 'catalogue/catalogue', 'audit/audit'],
].map(area)
const others = [
  ...['deliveries/delivery', 'webhooks/webhook', 'events/event', 'catalogue/event-type', 'record/record'].map(
    area,
  ),
  ...['users', 'user', 'roles', 'role', 'keys', 'secrets'].map((page) => area(`people/${page}`)),
  ...[
    'sign-on/sign-on',
    'sign-on/provider',
    'notifications/notifications',
    'platform/status',
    'platform/dead-letters',
    'account/account',
  ].map(area),
  'console/dist/shell/palette.js',
]

describe('the compressed files that a browser loads', () => {
  test.each(lists)('to show %s first stay below 250 KB', (list) => {
    expect(weightOf([...filesOf([main, start, shell, list]), style])).toBeLessThan(250 * kilobyte)
  })

  test('to sign in stay below 120 KB', () => {
    expect(weightOf([...filesOf([main, area('sign-in/start')]), style])).toBeLessThan(120 * kilobyte)
  })

  test.each([...lists, ...others])('to navigate to %s stay below 150 KB', (next) => {
    const there = filesOf([main, start, shell, area('failed-now/failed-now')])
    expect(weightOf([...filesOf([next])].filter((file) => !there.has(file)))).toBeLessThan(150 * kilobyte)
  })

  test('contain a separate lazily loaded file for every page', () => {
    const later = Object.values(outputs).flatMap((output) => output.later)
    const pages = [area('sign-in/start'), start, shell, ...lists, ...others]
    expect(pages.filter((page) => !later.includes(fileOf(page)))).toEqual([])
  })
})
