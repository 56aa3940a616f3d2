import { writeFileSync } from 'node:fs'
import { renderVariablesPage, variablesPagePath } from './variables-page.js'

writeFileSync(variablesPagePath, renderVariablesPage('.'))
process.stdout.write(`${variablesPagePath} is written\n`)
