/** The address of an app's page, with its parameters. */
export interface Place {
  workspace: string
  app: string
  /** `undefined` for the first page. */
  page: string | undefined
  /** Parameters of the page; in the fragment, so that no server receives them. */
  params: Readonly<Record<string, string>>
  /** `undefined` for the default environment. */
  environment: string | undefined
  embedId: string | undefined
}

const embedTokenKey = 'token'

/** Reads `/apps/:workspace/:slug/:page?environment=…&embed=…#name=value`. */
export function parsePlace({
  pathname,
  search,
  hash,
}: Pick<Location, 'pathname' | 'search' | 'hash'>): Place {
  const [, , workspace = '', app = '', page] = pathname.split('/').map(decodeURIComponent)
  const query = new URLSearchParams(search)
  const fragment = new URLSearchParams(hash.slice(1))
  fragment.delete(embedTokenKey)
  return {
    ...{ workspace, app, page: page || undefined },
    params: Object.fromEntries(fragment),
    environment: query.get('environment') ?? undefined,
    embedId: query.get('embed') ?? undefined,
  }
}

/** The token passed by an embedding page; in the fragment, so that no server and no log receives it. */
export const parseEmbedToken = (hash: string): string | undefined =>
  new URLSearchParams(hash.slice(1)).get(embedTokenKey) ?? undefined

/** The address of a place without the origin; the inverse of `parsePlace`. */
export function formatPlace({ workspace, app, page, params, environment, embedId }: Place): string {
  const query = new URLSearchParams()
  if (environment !== undefined) query.set('environment', environment)
  if (embedId !== undefined) query.set('embed', embedId)
  const path = ['apps', workspace, app, ...(page === undefined ? [] : [page])]
    .map(encodeURIComponent)
    .join('/')
  const [search, fragment] = [String(query), String(new URLSearchParams(params))]
  return `/${path}${search && `?${search}`}${fragment && `#${fragment}`}`
}
