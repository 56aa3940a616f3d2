/**
 * Compiles the TypeScript of every package to `dist`, one JavaScript module for each source, with esbuild: only what has changed,
 * and without checking types, which is `npm run types`. It compiles the bundler itself, so it is plain JavaScript.
 */
import { spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
/** In each `dist`: which state of which source its files were made of. */
const RECORD = '.sources.json'
const SOURCE = /(?<!\.d)\.tsx?$/
const OUTPUT = /\.(?:js|js\.map|d\.ts|d\.ts\.map)$/
const WITHOUT_SOURCES = new Set(['node_modules', 'dist', 'bundle', 'src'])
const DEEPEST_PACKAGE = 3
/** What decides, in addition to its tsconfig.json, what becomes of a source. */
const MAKERS = [
  fileURLToPath(import.meta.url),
  fileURLToPath(new URL('node_modules/esbuild/package.json', import.meta.url)),
  join(ROOT, 'tsconfig.base.json'),
]

/**
 * Brings `dist` of every package below `root` up to date: returns the paths of the sources that were compiled and the number of
 * outputs removed because their source is gone. Rejects with esbuild's messages; then nothing counts as compiled.
 */
export async function compile(root = ROOT) {
  const packages = packagesBelow(root).map((folder) => stateOf(folder))
  const removed = packages.reduce((count, each) => count + removeStale(each), 0)
  const changed = packages.flatMap(({ folder, changed }) => changed.map((name) => ({ folder, name })))
  if (changed.length > 0) {
    // Not loaded where there is nothing to do.
    const { build } = await import('esbuild')
    await build({
      absWorkingDir: root,
      outdir: root,
      entryPoints: changed.map(({ folder, name }) => ({
        in: join(folder, 'src', name),
        out: join(relative(root, folder), 'dist', name.replace(SOURCE, '')),
      })),
      ...{
        // For a browser, esbuild would replace NODE_ENV, which decides at run time what is checked in tests.
        platform: 'node',
        format: 'esm',
        charset: 'utf8',
        sourcemap: true,
        sourcesContent: false,
        logLevel: 'silent',
      },
    })
  }
  for (const each of packages) if (each.changed.length > 0) declareTypes(each.folder)
  for (const each of packages) if (each.changed.length > 0 || each.forgotten) keepRecord(each)
  return { compiled: changed.map(({ folder, name }) => join(relative(root, folder), 'src', name)), removed }
}

/** Folders with a `tsconfig.json` next to their `src`. */
export function packagesBelow(folder, depth = 0) {
  const entries = readdirSync(folder, { withFileTypes: true })
  const names = new Set(entries.map(({ name }) => name))
  const inner = entries.filter(
    (entry) => entry.isDirectory() && !entry.name.startsWith('.') && !WITHOUT_SOURCES.has(entry.name),
  )
  const below =
    depth < DEEPEST_PACKAGE ? inner.flatMap(({ name }) => packagesBelow(join(folder, name), depth + 1)) : []
  return names.has('src') && names.has('tsconfig.json') ? [folder, ...below] : below
}

function stateOf(folder) {
  const dist = join(folder, 'dist')
  const outputs = new Set(existsSync(dist) ? filesBelow(dist) : [])
  const madeWith = [...MAKERS, join(folder, 'tsconfig.json')].map(fingerprint).join(', ')
  const record = outputs.has(RECORD) ? recordIn(dist) : undefined
  const known = record?.madeWith === madeWith ? record.sources : {}
  const sources = Object.fromEntries(
    filesBelow(join(folder, 'src'))
      .filter((name) => SOURCE.test(name))
      .map((name) => [name, fingerprint(join(folder, 'src', name))]),
  )
  const changed = Object.keys(sources).filter(
    (name) => known[name] !== sources[name] || !outputs.has(name.replace(SOURCE, '.js')),
  )
  return {
    folder,
    outputs,
    madeWith,
    sources,
    changed,
    forgotten: Object.keys(known).some((name) => !sources[name]),
  }
}

const filesBelow = (folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))

function fingerprint(file) {
  const { size, mtimeMs } = statSync(file)
  return `${size} ${mtimeMs}`
}

function recordIn(dist) {
  try {
    return JSON.parse(readFileSync(join(dist, RECORD), 'utf8'))
  } catch {
    return undefined
  }
}

/** Renamed into place: another command may compile at the same time. */
function keepRecord({ folder, madeWith, sources }) {
  const file = join(folder, 'dist', RECORD)
  mkdirSync(join(folder, 'dist'), { recursive: true })
  writeFileSync(`${file}.${process.pid}`, JSON.stringify({ madeWith, sources }))
  renameSync(`${file}.${process.pid}`, file)
}

/** Jest would run the output of a test that is gone. */
function removeStale({ folder, outputs, sources }) {
  const made = new Set(Object.keys(sources).map((name) => name.replace(SOURCE, '')))
  const stale = [...outputs].filter((name) => OUTPUT.test(name) && !made.has(name.replace(OUTPUT, '')))
  for (const name of stale) rmSync(join(folder, 'dist', name), { force: true })
  return stale.length
}

/** Of a package whose types leave the repository; all others are read from their sources. */
function declareTypes(folder) {
  const { compilerOptions = {} } = JSON.parse(readFileSync(join(folder, 'tsconfig.json'), 'utf8'))
  if (!compilerOptions.declaration) return
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc')
  const { status, stdout, stderr } = spawnSync(process.execPath, [tsc, '-p', folder], { encoding: 'utf8' })
  if (status !== 0) throw new Error(`The declarations of ${folder} could not be written.\n${stdout}${stderr}`)
}

if (resolve(process.argv[1] ?? '') === fileURLToPath(import.meta.url)) {
  try {
    const { compiled, removed } = await compile()
    process.stdout.write(`${compiled.length} files compiled, ${removed} removed\n`)
  } catch (error) {
    process.stderr.write(`${error.message}\n`)
    process.exit(1)
  }
}
