import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type ServiceName, serviceNames } from '@opsplane/contracts'
import { bundleOf } from './place.js'
import { bringUpToDate } from './up-to-date.js'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const mainOf = (name: ServiceName) => join('services', name, 'dist/main.js')

/** The file that runs a service as a process of its own, once `bundleServices` has resolved. */
export const serviceBundle = (name: ServiceName): string => join(root, bundleOf(mainOf(name)))

/** What a browser loads to run an app. */
const appWeb = {
  script: 'services/apps/web/dist/main.js',
  style: 'services/apps/web/src/app.css',
  folder: 'services/apps/web/bundle',
}

/** Bundles every service of the registry, the local run with all of them, what installs them elsewhere, and what browsers load, where what they are made of has changed. */
export const bundleServices = (): Promise<boolean> =>
  bringUpToDate({
    root,
    entries: [...serviceNames.map(mainOf), 'deploy/local/dist/cli.js', 'deploy/install/dist/main.js'],
    webApps: [appWeb],
    stampFile: fileURLToPath(new URL('./bundles.json', import.meta.url)),
  })
