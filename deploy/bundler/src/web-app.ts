import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, gzip } from 'node:zlib'
import { build, type Metafile, type OutputFile } from 'esbuild'

export interface WebApp {
  root: string
  /** Compiled script and style, relative to the root; the assets are written to `folder`. */
  script: string
  style: string
  folder: string
}

const compress = { gz: promisify(gzip), br: promisify(brotliCompress) }
const list = 'assets.json'
const graph = 'outputs.json'

/**
 * Writes the files that browsers load for an app, each with a hash of its content in its name and a compressed copy
 * next to it, and `assets.json`, which lists them: `{script, style, files, preload}`. `outputs.json` lists the
 * imports of each file; a test uses it to compute the weight of a page. Returns the source files, relative to the
 * root. Rejects with esbuild's messages.
 */
export async function bundleWebApp({ root, script, style, folder }: WebApp): Promise<string[]> {
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints: [script, style],
    outdir: join(root, folder),
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    assetNames: '[name]-[hash]',
    loader: { '.woff2': 'file' },
    ...{ bundle: true, splitting: true, minify: true, format: 'esm', platform: 'browser' },
    target: ['es2022', 'safari16', 'chrome109', 'firefox115'],
    define: { 'process.env.NODE_ENV': '"production"' },
    legalComments: 'none',
    ...{ logLevel: 'silent', metafile: true, write: false },
  })
  const outputOf = (entry: string) => {
    const found = Object.entries(metafile.outputs).find(([, { entryPoint }]) => entryPoint === entry)
    return basename(found?.[0] ?? '')
  }
  const place = join(root, folder)
  mkdirSync(place, { recursive: true })
  await Promise.all(outputFiles.map(writeAsset))
  const files = outputFiles.map(({ path }) => basename(path))
  const outputs = importsOf(metafile)
  const preload = importedAtOnce(outputs, outputOf(script))
  replace(join(place, graph), JSON.stringify(outputs))
  replace(
    join(place, list),
    JSON.stringify({ script: outputOf(script), style: outputOf(style), files, preload }),
  )
  const current = new Set([list, graph, ...files.flatMap((file) => [file, `${file}.gz`, `${file}.br`])])
  for (const file of readdirSync(place)) if (!current.has(file)) rmSync(join(place, file), { force: true })
  return Object.keys(metafile.inputs)
}

type Outputs = Record<string, { source: string | undefined; imports: string[]; later: string[] }>

/** For each file, its static imports and its dynamic imports. */
function importsOf({ outputs }: Metafile): Outputs {
  return Object.fromEntries(
    Object.entries(outputs).map(([path, { entryPoint, imports }]) => {
      const listImports = (isLater: boolean) =>
        imports
          .filter(({ external, kind }) => !external && (kind === 'dynamic-import') === isLater)
          .map(({ path }) => basename(path))
      return [basename(path), { source: entryPoint, imports: listImports(false), later: listImports(true) }]
    }),
  )
}

/** The files that a file needs in order to start. */
function importedAtOnce(outputs: Outputs, file: string): string[] {
  const found = new Set<string>([file])
  for (const each of found) for (const imported of outputs[each]?.imports ?? []) found.add(imported)
  found.delete(file)
  return [...found]
}

async function writeAsset({ path, contents }: OutputFile): Promise<void> {
  // The file name contains the hash of the content.
  const once = async (file: string, made: () => Uint8Array | Promise<Uint8Array>) => {
    if (!existsSync(file)) replace(file, await made())
  }
  await once(path, () => contents)
  await Promise.all(
    Object.entries(compress).map(([ending, packed]) => once(`${path}.${ending}`, () => packed(contents))),
  )
}

/** A concurrent reader gets either the complete old or the complete new content. */
function replace(path: string, contents: string | Uint8Array): void {
  const written = `${path}.${process.pid}`
  writeFileSync(written, contents)
  renameSync(written, path)
}
