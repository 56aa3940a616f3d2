import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { stage } from './stage.js'

// Called by the image build: `node stage-main.js <folder>`.
const [target = ''] = process.argv.slice(2)
const places = stage(fileURLToPath(new URL('../../..', import.meta.url)), resolve(target))
process.stdout.write(`${places} places\n`)
