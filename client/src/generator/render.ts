import type { OpenAPI3 } from 'openapi-typescript'
import openapiTypescript, { astToString } from 'openapi-typescript'

const banner = `/** Generated from the OpenAPI document by \`npm run client\`: change the routes, not this file. */\n\n`

/** The TypeScript types of an OpenAPI document, as the text of a module. */
export async function renderTypes(document: OpenAPI3): Promise<string> {
  const nodes = await openapiTypescript(withoutRequiredWorkspace(withoutOtherServers(document)), {
    alphabetize: true,
    // A field with a default may be left out of a request.
    defaultNonNullable: false,
  })
  return banner + astToString(nodes)
}

/** The client calls the API only: what has a server of its own is elsewhere, and webhooks are received. */
function withoutOtherServers(document: OpenAPI3): OpenAPI3 {
  const items = Object.entries(document.paths ?? {}).filter(([, item]) => !('servers' in item))
  return { ...document, paths: Object.fromEntries(items), webhooks: {} }
}

/** The client itself names the workspace, so that calls need not. */
function withoutRequiredWorkspace(document: OpenAPI3): OpenAPI3 {
  const copy = structuredClone(document)
  const parameter = copy.components?.parameters?.Workspace
  if (parameter === undefined || !('required' in parameter)) {
    throw new Error('the document has no required parameter Workspace')
  }
  parameter.required = false
  return copy
}
