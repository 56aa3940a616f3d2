import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from '@jest/globals'

const root = fileURLToPath(new URL('../../../../', import.meta.url))
const readmes = ['services', 'libs'].flatMap((folder) =>
  readdirSync(join(root, folder)).map((name) => `${folder}/${name}/README.md`),
)
const documents = [
  ...['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md', 'cli/README.md', ...readmes],
  ...['docs', 'bench/results'].flatMap(markdownBelow),
].filter((path) => existsSync(join(root, path)))

/** Skips `node_modules`, whose links are circular. */
function markdownBelow(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`
    if (entry.isDirectory()) return entry.name === 'node_modules' ? [] : markdownBelow(path)
    return entry.name.endsWith('.md') ? [path] : []
  })
}

const withoutCode = (markdown: string) => markdown.replaceAll(/```[\s\S]*?```/g, '')
const anchorsIn = (markdown: string) =>
  [...withoutCode(markdown).matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replaceAll(/[^\w\s-]/g, '')
      .trim()
      .replaceAll(/\s/g, '-'),
  )

/** Links to files or headings that do not exist. */
function brokenLinks(document: string, markdown: string): string[] {
  return [...withoutCode(markdown).matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, link = '']) => {
    if (/^[a-z]+:/.test(link)) return []
    const [path = '', anchor] = link.split('#')
    const target = join(root, path === '' ? document : join(dirname(document), path))
    if (!existsSync(target)) return [link]
    if (anchor === undefined || !target.endsWith('.md')) return []
    return anchorsIn(readFileSync(target, 'utf8')).includes(anchor) ? [] : [link]
  })
}

test('the documents are found', () => {
  expect(documents.length).toBeGreaterThan(200)
})

test('documents link to files and headings that exist', () => {
  const broken = documents.flatMap((document) =>
    brokenLinks(document, readFileSync(join(root, document), 'utf8')).map((link) => `${document}: ${link}`),
  )
  expect(broken).toEqual([])
})

test.each([
  ['[gone](gone.md)', ['gone.md']],
  ['[gone](CHANGELOG.md#gone)', ['CHANGELOG.md#gone']],
  ['[there](CONTRIBUTING.md#house-rules), [elsewhere](https://opsplane.example/gone)', []],
])('%s has the broken links %j', (markdown, links) => {
  expect(brokenLinks('README.md', markdown)).toEqual(links)
})
