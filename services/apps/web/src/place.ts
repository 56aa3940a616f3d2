/** Where an app is, and how it is shown. */
export interface Place {
  workspace: string
  app: string
  /** Undefined for the first page. */
  page: string | undefined
  /** Of the page; in the fragment, so that no server sees them. */
  params: Readonly<Record<string, string>>
  /** Undefined for the usual one. */
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

/** The token of an embedding page: in the fragment, so that no server and no log sees it. */
export const parseEmbedToken = (hash: string): string | undefined =>
  new URLSearchParams(hash.slice(1)).get(embedTokenKey) ?? undefined

/** The address of a place, below the origin; `parsePlace` reads it. */
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
