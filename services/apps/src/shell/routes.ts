import { environments } from '@opsplane/contracts'
import { defineDocument, type KeptDocument, type Route } from '@opsplane/http'
import { z } from 'zod'
import type { Assets } from './assets.js'
import { frameOrigins } from './frame-origins.js'
import { shellHeaders, shellPage } from './page.js'

const tag = 'Running apps'

/** `embed` names an embed token without being one: it says who may show the page in a frame, and nothing more. */
const ShellQuery = z.object({
  environment: z.enum(environments).optional(),
  embed: z.string().max(100).optional(),
})

export interface ShellOptions {
  assets: Assets
  /** Origins that may embed by this token; none where it is unknown, expired or revoked. */
  embedOrigins(embedId: string): Promise<readonly string[]>
}

/** The page an app runs in, and what it loads. Public: nothing in it is of anybody. */
export function shellRoutes({ assets, embedOrigins }: ShellOptions): Route[] {
  let page: KeptDocument | undefined
  const show = async ({ embed }: z.infer<typeof ShellQuery>) => {
    page ??= shellPage(assets.list())
    return {
      document: page,
      headers: shellHeaders(embed === undefined ? [] : frameOrigins(await embedOrigins(embed))),
    }
  }
  const shell = { tag, scope: 'public', query: ShellQuery } as const
  return [
    defineDocument({
      ...shell,
      operationId: 'showApp',
      path: '/origin/apps/:workspace/:slug',
      summary: 'The page an app runs in',
      handler: ({ query }) => show(query),
    }),

    defineDocument({
      ...shell,
      operationId: 'showAppPage',
      path: '/origin/apps/:workspace/:slug/:page',
      summary: 'The page an app runs in, at one of its pages',
      handler: ({ query }) => show(query),
    }),

    defineDocument({
      operationId: 'getAppAsset',
      path: '/origin/apps/-/assets/:file',
      summary: 'A script or style of the page',
      tag,
      scope: 'public',
      errors: ['not_found'],
      handler: async ({ params }) => assets.file(params.file),
    }),
  ]
}
