import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
// Imports only the service registry of the contracts: loading the rest takes longer than the check for changes.
import { type ServiceName, serviceNames } from '@opsplane/contracts/services'
import { toBundlePath } from './place.js'
import { bringUpToDate } from './up-to-date.js'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const mainOf = (name: ServiceName) => join('services', name, 'dist/main.js')

/** The file that runs a service as a separate process, once `bundlePrograms` has resolved. */
export const serviceBundle = (name: ServiceName): string => join(root, toBundlePath(mainOf(name)))

/** The files a browser loads to run an app. */
const appWeb = {
  script: 'services/apps/web/dist/main.js',
  style: 'services/apps/web/src/app.css',
  folder: 'services/apps/web/bundle',
}

/** The files a browser loads for the console. */
const consoleWeb = {
  script: 'console/dist/main.js',
  style: 'console/src/styles/main.css',
  folder: 'console/bundle',
}

/** The services that serve the files bundled for browsers. */
const servers: Readonly<Record<string, ServiceName>> = {
  [appWeb.folder]: 'apps',
  [consoleWeb.folder]: 'gateway',
}

/** The service that must restart to use a bundle returned by `bundlePrograms`; `undefined` for other programs. */
export const findService = (made: string): ServiceName | undefined =>
  servers[made] ?? serviceNames.find((name) => mainOf(name) === made)

const programs = {
  services: serviceNames.map(mainOf),
  local: ['deploy/local/dist/cli.js'],
  all: [...serviceNames.map(mainOf), 'deploy/local/dist/cli.js', 'deploy/install/dist/main.js'],
}

/**
 * `services`: one program for each service of the registry. `local`: the local run with all of them. `all`: also the
 * installer.
 */
export type Programs = keyof typeof programs
export const isPrograms = (text: string): text is Programs => Object.hasOwn(programs, text)

/**
 * Bundles programs and their web apps where the inputs have changed; returns the entries and web app folders that
 * were rebuilt.
 */
export const bundlePrograms = (which: Programs): Promise<string[]> =>
  bringUpToDate({
    root,
    entries: programs[which],
    webApps: [appWeb, consoleWeb],
    stampFile: fileURLToPath(new URL('./bundles.json', import.meta.url)),
  })
