import { bundleServices } from './index.js'

const made = await bundleServices()
process.stdout.write(made ? 'bundled\n' : 'unchanged\n')
