import { type Environment, environments } from '@opsplane/contracts'
import { type BuiltAssets, type CachedDocument, defineDocument, type Route } from '@opsplane/http'
import { z } from 'zod'
import { frameOrigins } from './frame-origins.js'
import { shellHeaders, shellPage } from './page.js'

const tag = 'Running apps'

/** `embed` is the id of an embed token, not the token: it only determines who may frame the page of this app. */
const ShellQuery = z.object({
  environment: z.enum(environments).optional(),
  embed: z.string().max(100).optional(),
})

export interface ShellOptions {
  assets: BuiltAssets
  /**
   * Origins that may frame the page at this address according to the token with this id; none if the token belongs to
   * another address.
   */
  embedOrigins(embedId: string, at: ShellAddress): Promise<readonly string[]>
}

interface ShellAddress {
  workspace: string
  slug: string
  environment: Environment | undefined
}

/** The page an app runs in, and its assets. Public: it contains no tenant data. */
export function shellRoutes({ assets, embedOrigins }: ShellOptions): Route[] {
  let page: CachedDocument | undefined
  const show = async (
    { workspace, slug }: Omit<ShellAddress, 'environment'>,
    { embed, environment }: z.infer<typeof ShellQuery>,
  ) => {
    page ??= shellPage(assets.list())
    const origins = embed === undefined ? [] : await embedOrigins(embed, { workspace, slug, environment })
    return { document: page, headers: shellHeaders(frameOrigins(origins)) }
  }
  const shell = { tag, scope: 'public', isDocumented: false, query: ShellQuery } as const
  return [
    defineDocument({
      ...shell,
      operationId: 'showApp',
      path: '/origin/apps/:workspace/:slug',
      summary: 'Get the page an app runs in',
      handler: ({ params, query }) => show(params, query),
    }),

    defineDocument({
      ...shell,
      operationId: 'showAppPage',
      path: '/origin/apps/:workspace/:slug/:page',
      summary: 'Get the page an app runs in, opened at one of its pages',
      handler: ({ params, query }) => show(params, query),
    }),

    defineDocument({
      operationId: 'getAppAsset',
      path: '/origin/apps/-/assets/:file',
      summary: 'Get a script or style of the page an app runs in',
      tag,
      isDocumented: false,
      scope: 'public',
      errors: ['not_found'],
      handler: async ({ params }) => assets.file(params.file),
    }),
  ]
}
