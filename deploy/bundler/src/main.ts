import { bundlePrograms, isPrograms } from './index.js'

const [which = 'all'] = process.argv.slice(2)
if (!isPrograms(which)) throw new Error(`Bundles are made of services, local or all, not of "${which}".`)
const made = await bundlePrograms(which)
process.stdout.write(made.length === 0 ? 'unchanged\n' : `${made.length} bundled\n`)
