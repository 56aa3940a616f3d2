import { readFileSync } from 'node:fs'
import { extname } from 'node:path'
import { ApiError } from '@opsplane/contracts'
import type { BrowserDocument } from '@opsplane/http'
import { z } from 'zod'

const AssetList = z.object({ script: z.string(), style: z.string(), files: z.array(z.string()) })
export type AssetList = z.infer<typeof AssetList>

/** What browsers load for every app; made by the build. */
export interface Assets {
  list(): AssetList
  /** A file in the shortest form the browser takes. Throws `not_found`. */
  file(name: string, acceptEncoding: string | undefined): BrowserDocument
}

const contentTypes: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
}
/** Shortest first, with the ending that the build gave its files. */
const encodings = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const
/** A file's name has a hash of its content. */
const forGood = 'public, max-age=31536000, immutable'

/** Those the build has made of `web`. */
export const webAssets = (): Assets => createAssets(new URL('../../web/bundle/', import.meta.url))

/** Reads each file once, with its first use. */
export function createAssets(folder: URL): Assets {
  let known: AssetList | undefined
  const contents = new Map<string, Buffer>()
  const read = (name: string): Buffer => {
    const content = contents.get(name) ?? readFileSync(new URL(name, folder))
    contents.set(name, content)
    return content
  }
  const list = () => {
    known ??= AssetList.parse(JSON.parse(readFileSync(new URL('assets.json', folder), 'utf8')))
    return known
  }
  return {
    list,
    file(name, acceptEncoding = '') {
      // Of those that were built: never a path from outside.
      if (!list().files.includes(name)) throw new ApiError('not_found', 'There is no such file.')
      const [encoding, ending] = encodings.find(([coding]) => accepts(acceptEncoding, coding)) ?? [
        undefined,
        '',
      ]
      return {
        contentType: contentTypes[extname(name)] ?? 'application/octet-stream',
        content: read(`${name}${ending}`),
        headers: {
          'Cache-Control': forGood,
          Vary: 'Accept-Encoding',
          'Content-Encoding': encoding,
        },
      }
    },
  }
}

/** Whether an Accept-Encoding header names a coding, and not to refuse it. */
function accepts(header: string, coding: string): boolean {
  return header.split(',').some((part) => {
    const [name = '', quality = ''] = part.trim().split(';')
    return name.trim().toLowerCase() === coding && !/q=0(\.0*)?$/.test(quality.trim())
  })
}
