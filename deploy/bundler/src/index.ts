import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
// Without the rest of the contracts, which takes longer to load than to see that nothing is to be done.
import { type ServiceName, serviceNames } from '@opsplane/contracts/services'
import { toBundlePath } from './place.js'
import { bringUpToDate } from './up-to-date.js'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const mainOf = (name: ServiceName) => join('services', name, 'dist/main.js')

/** The file that runs a service as a process of its own, once `bundlePrograms` has resolved. */
export const serviceBundle = (name: ServiceName): string => join(root, toBundlePath(mainOf(name)))

/** What a browser loads to run an app. */
const appWeb = {
  script: 'services/apps/web/dist/main.js',
  style: 'services/apps/web/src/app.css',
  folder: 'services/apps/web/bundle',
}

/** What it loads for the console. */
const consoleWeb = {
  script: 'console/dist/main.js',
  style: 'console/src/styles/main.css',
  folder: 'console/bundle',
}

/** The services that serve what is bundled for browsers. */
const servers: Readonly<Record<string, ServiceName>> = {
  [appWeb.folder]: 'apps',
  [consoleWeb.folder]: 'gateway',
}

/** The service that has to restart to run a bundle of `bundlePrograms`; undefined for other programs. */
export const findService = (made: string): ServiceName | undefined =>
  servers[made] ?? serviceNames.find((name) => mainOf(name) === made)

const programs = {
  services: serviceNames.map(mainOf),
  local: ['deploy/local/dist/cli.js'],
  all: [...serviceNames.map(mainOf), 'deploy/local/dist/cli.js', 'deploy/install/dist/main.js'],
}

/** `services`: one for each of the registry. `local`: the local run with all of them. `all`: also what installs them elsewhere. */
export type Programs = keyof typeof programs
export const isPrograms = (text: string): text is Programs => Object.hasOwn(programs, text)

/** Bundles programs, and what browsers load of them, where what they are made of has changed; gives back the entries, and folders of web apps, that this concerned. */
export const bundlePrograms = (which: Programs): Promise<string[]> =>
  bringUpToDate({
    root,
    entries: programs[which],
    webApps: [appWeb, consoleWeb],
    stampFile: fileURLToPath(new URL('./bundles.json', import.meta.url)),
  })
