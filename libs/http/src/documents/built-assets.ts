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
  /** Scripts and fonts that the first script and the style cannot do without. */
  preload: z.array(z.string()).default([]),
})
export type AssetList = z.infer<typeof AssetList>

/** What browsers load of a page; made by the build. */
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
/** A file's name has a hash of its content. */
const forGood = 'public, max-age=31536000, immutable'

/** Reads each file once, with its first use, and what the build has made of it: it is compressed better than there is time for here. */
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
      // Of those that were built: never a path from outside.
      if (!list().files.includes(name)) throw new ApiError('not_found', 'There is no such file.')
      return { document: kept.get(name) ?? keep(name), headers: { 'Cache-Control': forGood } }
    },
  }
}
