import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { documentOfBuild, readDocument } from './document.js'
import { renderTypes } from './render.js'

const USAGE = `Usage: npm run client -- [--check] [--url <address>]

Writes client/src/schema.ts from the OpenAPI document of the platform as it is built.

  --check  write nothing; fail when the file is not what would be written
  --url    read the document there instead of starting the platform
`
const FILE = fileURLToPath(new URL('../../src/schema.ts', import.meta.url))

const { values } = parseArgs({
  options: { check: { type: 'boolean' }, url: { type: 'string' }, help: { type: 'boolean', short: 'h' } },
})
if (values.help) {
  process.stdout.write(USAGE)
} else {
  const document = values.url === undefined ? await documentOfBuild() : await readDocument(values.url)
  const text = await renderTypes(document)
  const present = existsSync(FILE) ? readFileSync(FILE, 'utf8') : ''
  if (present === text) {
    process.stdout.write('client/src/schema.ts is up to date\n')
  } else if (values.check) {
    process.stderr.write('client/src/schema.ts is not what the API says. Write it with: npm run client\n')
    process.exitCode = 1
  } else {
    writeFileSync(FILE, text)
    process.stdout.write('client/src/schema.ts is written\n')
  }
}
