import { readFileSync } from 'node:fs'
import { extname } from 'node:path'
import { ApiError } from '@opsplane/contracts'
import { z } from 'zod'
import type { DocumentAnswer } from '../route/document.js'
import { type CachedDocument, cacheDocument } from './cached-document.js'

const AssetList = z.object({
  script: z.string(),
  style: z.string(),
  files: z.array(z.string()),
  /** Scripts and fonts required by the first script and the stylesheet. */
  preload: z.array(z.string()).default([]),
})
export type AssetList = z.infer<typeof AssetList>

/** Static files of a page, produced by the build. */
export interface BuiltAssets {
  list(): AssetList
  /** Throws `not_found`. */
  file(name: string): DocumentAnswer
}

const contentTypes: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.woff2': 'font/woff2',
}
/** A file's name contains a hash of its content, so it never changes. */
const forGood = 'public, max-age=31536000, immutable'

/**
 * Reads each file on first use, with the compressed versions from the build: these compress
 * better than would be affordable at runtime.
 */
export function builtAssets(folder: URL): BuiltAssets {
  let known: AssetList | undefined
  const kept = new Map<string, CachedDocument>()
  const read = (name: string) => readFileSync(new URL(name, folder))
  const keep = (name: string): CachedDocument => {
    const contentType = contentTypes[extname(name)] ?? 'application/octet-stream'
    const document = cacheDocument(contentType, read(name), {
      br: read(`${name}.br`),
      gzip: read(`${name}.gz`),
    })
    kept.set(name, document)
    return document
  }
  const list = () => {
    known ??= AssetList.parse(JSON.parse(readFileSync(new URL('assets.json', folder), 'utf8')))
    return known
  }
  return {
    list,
    file(name) {
      // Only names from the build's list, so a request can never read another path.
      if (!list().files.includes(name)) throw new ApiError('not_found', 'There is no such file.')
      return { document: kept.get(name) ?? keep(name), headers: { 'Cache-Control': forGood } }
    },
  }
}
