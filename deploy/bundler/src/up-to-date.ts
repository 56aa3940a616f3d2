import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { toBundlePath } from './place.js'
import { createStamps } from './stamps.js'
import type { WebApp } from './web-app.js'

export interface KeptBundles {
  root: string
  /** Browser apps that are bundled together with the entries. */
  webApps?: readonly Omit<WebApp, 'root'>[]
  /** Compiled files relative to the root, `<group>/<package>/dist/<entry>.js` each. */
  entries: readonly string[]
  /** File that stores the inputs of the bundles. */
  stampFile: string
}

/**
 * Rebuilds the bundles that are missing or whose inputs have changed; returns the entries and the web app folders
 * that were rebuilt. Packages are identified by the lock file. Rejects with esbuild's messages.
 */
export async function bringUpToDate({
  root,
  entries,
  webApps = [],
  stampFile,
}: KeptBundles): Promise<string[]> {
  const madeWith = [process.version, process.arch, lockOf(root), ...ownCode()]
  const stamps = createStamps({ root, file: stampFile, madeWith })
  const isDue = (name: string, place: string) => !existsSync(join(root, place)) || !stamps.isCurrent(name)
  const dueEntries = entries.filter((entry) => isDue(entry, toBundlePath(entry)))
  const dueApps = webApps.filter(({ folder }) => isDue(folder, join(folder, 'assets.json')))
  if (dueEntries.length === 0 && dueApps.length === 0) return []
  // Not loaded if there is nothing to do.
  const [{ bundle }, { bundleWebApp }] = await Promise.all([import('./bundle.js'), import('./web-app.js')])
  // Finer resolution than Date.now(), for files written just before.
  const begunAtMs = performance.timeOrigin + performance.now()
  const apps = Promise.all(
    dueApps.map(
      async (app): Promise<[string, string[]]> => [app.folder, await bundleWebApp({ root, ...app })],
    ),
  )
  const [bundled, built] = await Promise.all([bundle({ root, entries: dueEntries }), apps])
  stamps.write(
    [...bundled, ...built].map(([name, inputs]): [string, string[]] => [name, withManifests(inputs)]),
    begunAtMs,
  )
  return [...dueEntries, ...dueApps.map(({ folder }) => folder)]
}

/** Our own files and the manifests of their packages. */
function withManifests(inputs: readonly string[]): string[] {
  const files = inputs.filter((path) => !path.includes('node_modules/'))
  const manifests = files.map((path) => join(...path.split('/').slice(0, 2), 'package.json'))
  return [...files, ...new Set(manifests)]
}

const lockOf = (root: string): string => readFileSync(join(root, 'pnpm-lock.yaml'), 'utf8')

function ownCode(): string[] {
  const folder = dirname(fileURLToPath(import.meta.url))
  const files = readdirSync(folder).filter((name) => /(?<!\.test)\.js$/.test(name))
  return files.map((name) => readFileSync(join(folder, name), 'utf8'))
}
