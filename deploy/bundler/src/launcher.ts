import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { compile, type ModuleFunction } from './compile.js'
import { nameSources } from './stack-traces.js'

/**
 * The bundle in the same folder: its name contains the hash of its content, so the code cache of another bundle is
 * never used for it.
 */
declare const BUNDLE: string

const file = join(__dirname, BUNDLE)
const cache = `${file}.cache`
nameSources(file, `${file}.lines.json`)
const run = compile(
  file,
  existsSync(cache) ? readFileSync(cache) : undefined,
).runInThisContext() as ModuleFunction
const module = { exports: {} }
run(module.exports, createRequire(file), module, file, __dirname)
