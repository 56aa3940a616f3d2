import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type ServiceName, serviceNames } from '@opsplane/contracts'
import { bundleOf } from './place.js'
import { bringUpToDate } from './up-to-date.js'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const mainOf = (name: ServiceName) => join('services', name, 'dist/main.js')

/** The file that runs a service as a process of its own, once `bundleServices` has resolved. */
export const serviceBundle = (name: ServiceName): string => join(root, bundleOf(mainOf(name)))

/** Bundles every service of the registry, and the local run with all of them, where what they are made of has changed. */
export const bundleServices = (): Promise<boolean> =>
  bringUpToDate({
    root,
    entries: [...serviceNames.map(mainOf), 'deploy/local/dist/cli.js'],
    stampFile: fileURLToPath(new URL('./bundles.json', import.meta.url)),
  })
