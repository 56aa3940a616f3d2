import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundleOf } from './place.js'
import { isCurrent, writeStamp } from './stamp.js'
import type { WebApp } from './web-app.js'

export interface KeptBundles {
  root: string
  /** What browsers load, bundled beside them. */
  webApps?: readonly Omit<WebApp, 'root'>[]
  /** Compiled files below the root, `<group>/<package>/dist/<entry>.js` each. */
  entries: readonly string[]
  /** Where it is kept what they were made of. */
  stampFile: string
}

/**
 * Makes the bundles anew where one is missing or what they are made of has changed; says whether it had to. Packages
 * are known by the lock file. Rejects with esbuild's messages.
 */
export async function bringUpToDate({
  root,
  entries,
  webApps = [],
  stampFile,
}: KeptBundles): Promise<boolean> {
  const stamp = {
    root,
    file: stampFile,
    madeWith: [process.version, process.arch, ...entries, lockOf(root), ...ownCode()],
  }
  const places = [...entries.map(bundleOf), ...webApps.map(({ folder }) => join(folder, 'assets.json'))]
  const made = places.every((place) => existsSync(join(root, place)))
  if (made && isCurrent(stamp)) return false
  // Not loaded where there is nothing to do.
  const [{ bundle }, { bundleWebApp }] = await Promise.all([import('./bundle.js'), import('./web-app.js')])
  // Finer than Date.now(), for files written just before.
  const begunAtMs = performance.timeOrigin + performance.now()
  const inputs = [await bundle({ root, entries })]
  for (const app of webApps) inputs.push(await bundleWebApp({ root, ...app }))
  const files = inputs.flat().filter((path) => !path.includes('node_modules/'))
  const manifests = new Set(files.map((path) => join(...path.split('/').slice(0, 2), 'package.json')))
  writeStamp(stamp, { inputs: [...files, ...manifests], begunAtMs })
  return true
}

const lockOf = (root: string): string => readFileSync(join(root, 'pnpm-lock.yaml'), 'utf8')

function ownCode(): string[] {
  const folder = dirname(fileURLToPath(import.meta.url))
  const files = readdirSync(folder).filter((name) => name.endsWith('.js'))
  return files.map((name) => readFileSync(join(folder, name), 'utf8'))
}
