import { readFile } from 'node:fs/promises'
import { dirname, relative } from 'node:path'
import type { Plugin } from 'esbuild'
import { needsSpreads, withSpreads } from './object-spreads.js'

const ownUrl = /\bimport\.meta\.url\b/g
const ownRequire = /^const require = createRequire\(import\.meta\.url\);$/m
const ownPath = /\b__(dirname|filename)\b/
const declaredPath = /\b(const|let|var)\s+__(dirname|filename)\b/
const strict = /^\s*((\/\/.*|\/\*[\s\S]*?\*\/)\s*)*(['"])use strict\3/
const packages = /[\\/]node_modules[\\/]/

/**
 * Code at the start of a bundle, which is three folders below the root: builds absolute paths from paths relative to
 * the root.
 */
export const pathsBanner =
  'const __atRoot = (path) => require("node:path").join(__dirname, "../../..", path);'

/**
 * Reads the modules of a bundle. Modules still find the files next to them (migrations, pages, workers,
 * WebAssembly), because their own path stays correct. Native addons are loaded from their original location. Spreads
 * of object literals are rewritten here, once for all bundles that contain a module.
 */
export function readModules(root: string): Plugin {
  const atRoot = (file: string) => `__atRoot(${JSON.stringify(relative(root, file))})`
  const urlOf = (file: string) => `require("node:url").pathToFileURL(${atRoot(file)}).href`
  return {
    name: 'modules',
    setup(build) {
      build.onLoad({ filter: /\.node$/ }, ({ path }) => ({
        contents: `module.exports = require(${atRoot(path)})`,
      }))
      build.onLoad({ filter: /\.[cm]?js$/ }, async ({ path }) => {
        const text = rewrite(path, await readFile(path, 'utf8'))
        // With these removed, modules required by name become part of the bundle and still run when they are first required.
        const contents = text.replace(ownRequire, '').replace(ownUrl, () => urlOf(path))
        if (!packages.test(path)) return { contents }
        const paths = `const __filename = ${atRoot(path)}, __dirname = ${atRoot(dirname(path))};`
        const before = ownPath.test(text) && !declaredPath.test(text) ? paths : ''
        const directive = before && strict.test(text) ? '"use strict";' : ''
        return { contents: `${directive}${before}${contents}` }
      })
    },
  }
}

/** Rewritten modules by path: `npm run dev` bundles the same modules after each change, and few of them differ. */
const rewritten = new Map<string, { from: string; to: string }>()

function rewrite(path: string, text: string): string {
  if (!needsSpreads) return text
  const before = rewritten.get(path)
  if (before?.from === text) return before.to
  const to = withSpreads(text)
  rewritten.set(path, { from: text, to })
  return to
}
