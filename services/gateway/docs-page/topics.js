/* The OpenAPI document in parts: Swagger UI takes seconds to show all of it, and a moment for the operations of one tag. */

const methods = ['get', 'post', 'put', 'patch', 'delete', 'head', 'options']

/** The workspace at the top of the page is that of every operation, so that trying one out needs no typing. */
export function makeWorkspaceOptional(description) {
  const parameter = description.components?.parameters?.Workspace
  if (parameter) {
    parameter.required = false
    parameter.description = 'Slug of the workspace; the one at the top of this page unless given here.'
  }
  return description
}

/** Filters are described by examples, not filled in with them: all of them together find nothing. */
export function describeFilters(description) {
  for (const operation of Object.values(description.paths).flatMap((path) => Object.values(path))) {
    for (const parameter of operation.parameters ?? []) {
      const { example, ...schema } = parameter.schema ?? {}
      if (parameter.in !== 'query' || parameter.required || example === undefined) continue
      parameter.schema = schema
      parameter.description = [parameter.description, `Such as \`${[example].flat().join(',')}\`.`]
        .filter(Boolean)
        .join(' ')
    }
  }
  return description
}

/** The tags that have operations, with these. */
export function listTopics(description) {
  const topics = new Map((description.tags ?? []).map(({ name }) => [name, { name, operations: [] }]))
  for (const [path, item] of Object.entries(description.paths))
    for (const method of methods) {
      const operation = item[method]
      const topic = topics.get(operation?.tags?.[0])
      if (topic)
        topic.operations.push({ id: operation.operationId, method, path, summary: operation.summary ?? path })
    }
  return [...topics.values()].filter(({ operations }) => operations.length > 0)
}

/** The document with the operations of one topic, and the components they need; without a name the guides alone. */
export function extractTopic(description, name) {
  const { title, version, description: guides } = description.info
  const head = { ...description, tags: undefined, webhooks: undefined, paths: {} }
  if (name === undefined) return { ...head, info: { title, version, description: guides }, components: {} }
  const paths = {}
  for (const [path, item] of Object.entries(description.paths)) {
    const kept = Object.entries(item).filter(
      ([key, { tags }]) => !methods.includes(key) || tags?.[0] === name,
    )
    if (kept.some(([key]) => methods.includes(key))) paths[path] = Object.fromEntries(kept)
  }
  const webhooks = name === 'Webhooks' ? description.webhooks : undefined
  const { schemas = {}, ...others } = description.components ?? {}
  const components = { ...others, schemas: referencedSchemas({ paths, webhooks }, schemas) }
  const tags = description.tags.filter((tag) => tag.name === name)
  return { ...head, info: { title: name, version }, tags, paths, webhooks, components }
}

function referencedSchemas(part, schemas) {
  const found = {}
  const collect = (value) => {
    if (typeof value === 'string') {
      const [, name] = /^#\/components\/schemas\/(.+)$/.exec(value) ?? []
      if (name === undefined || found[name] || !schemas[name]) return
      found[name] = schemas[name]
      collect(schemas[name])
    } else if (value !== null && typeof value === 'object')
      for (const item of Object.values(value)) collect(item)
  }
  collect(part)
  return found
}

/** The topic and the operation of an address such as `#/Incidents/createIncident`; undefined for the guides. */
export function topicInAddress(hash) {
  const [, topic] = hash.split('/')
  return topic ? decodeURIComponent(topic).replaceAll('_', ' ') : undefined
}
