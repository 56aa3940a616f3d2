import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type BuildOptions, build } from 'esbuild'
import { compile } from './compile.js'
import { lineTable } from './line-table.js'
import { pathsBanner, readModules } from './modules.js'
import { toBundlePath } from './place.js'

export interface BundleOptions {
  root: string
  /** Compiled files relative to the root, `<group>/<package>/dist/<entry>.js` each. */
  entries: readonly string[]
}

const common = { bundle: true, platform: 'node', format: 'cjs', logLevel: 'silent' } satisfies BuildOptions

/**
 * Writes a bundle of each entry with all its imports, its source map, V8's code cache, and the launcher that runs
 * it. Returns the files that each bundle was made of, relative to the root. Rejects with esbuild's messages.
 */
export async function bundle({ root, entries }: BundleOptions): Promise<[entry: string, inputs: string[]][]> {
  if (entries.length === 0) return []
  const { outputFiles, metafile } = await build({
    ...common,
    absWorkingDir: root,
    entryPoints: entries.map((entry) => ({ in: entry, out: toBundlePath(entry).replace(/\.cjs$/, '') })),
    outdir: root,
    entryNames: '[dir]/[name]-[hash]',
    outExtension: { '.js': '.cjs' },
    target: `node${process.versions.node}`,
    // Modules that are imported dynamically become part of the bundle and run on first use.
    supported: { 'dynamic-import': false },
    sourcemap: true,
    sourcesContent: false,
    metafile: true,
    write: false,
    plugins: [readModules(root)],
    banner: {
      js: `(function (exports, require, module, __filename, __dirname) { "use strict"; ${pathsBanner}`,
    },
    footer: { js: '})' },
  })
  for (const { path, text } of outputFiles)
    writeOnce(path, () => (path.endsWith('.cjs') ? inAscii(text) : text))
  const launcher = await launcherText()
  const made: [string, string[]][] = []
  for (const { path } of outputFiles.filter(({ path }) => path.endsWith('.cjs'))) {
    const map = outputFiles.find((file) => file.path === `${path}.map`)
    replace(`${path}.lines.json`, JSON.stringify(lineTable(JSON.parse(map?.text ?? '{}'))))
    replace(`${path}.cache`, compile(path).createCachedData())
    const { entryPoint = '', inputs = {} } = metafile.outputs[relative(root, path)] ?? {}
    const place = join(root, toBundlePath(entryPoint))
    replace(place, `const BUNDLE = ${JSON.stringify(basename(path))};\n${launcher}`)
    removeOlder(place, basename(path))
    made.push([entryPoint, Object.keys(inputs)])
  }
  return made
}

/**
 * esbuild keeps non-ASCII characters in regular expressions and tagged templates, where an escape has the same
 * meaning.
 */
const inAscii = (text: string): string =>
  text.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)

/**
 * Another process may be running the file already, or writing it: a file with a hash in its name always has the same
 * content.
 */
function writeOnce(path: string, contents: () => string): void {
  mkdirSync(dirname(path), { recursive: true })
  if (!existsSync(path)) replace(path, contents())
}

/** A concurrent reader gets either the complete old or the complete new content. */
function replace(path: string, contents: string | Uint8Array): void {
  const written = `${path}.${process.pid}`
  writeFileSync(written, contents)
  renameSync(written, path)
}

async function launcherText(): Promise<string> {
  const launcher = fileURLToPath(new URL('./launcher.js', import.meta.url))
  const { outputFiles } = await build({ ...common, entryPoints: [launcher], write: false })
  return outputFiles.map(({ text }) => text).join('')
}

/** Removes earlier bundles of the same entry. */
function removeOlder(place: string, current: string): void {
  const folder = dirname(place)
  const older = readdirSync(folder).filter(
    (file) => file.startsWith(`${basename(place, '.cjs')}-`) && !file.startsWith(current),
  )
  for (const file of older) rmSync(join(folder, file), { force: true })
}
