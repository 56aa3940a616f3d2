import { describeFilters, extractTopic, listTopics, makeWorkspaceOptional, topicInAddress } from './topics.js'

const keys = { workspace: 'opsplane-docs-workspace', theme: 'opsplane-docs-theme' }
const element = (id) => document.getElementById(id)

function create(name, properties, ...children) {
  const made = Object.assign(document.createElement(name), properties)
  made.append(...children)
  return made
}

/** The scheme of the system, unless the reader has chosen one. */
function followTheme() {
  const root = document.documentElement
  const system = window.matchMedia('(prefers-color-scheme: dark)')
  const show = () => {
    const theme = localStorage.getItem(keys.theme) ?? (system.matches ? 'dark' : 'light')
    root.classList.toggle('dark-mode', theme === 'dark')
    root.style.colorScheme = theme
  }
  system.addEventListener('change', show)
  element('theme').addEventListener('click', () => {
    localStorage.setItem(keys.theme, root.classList.contains('dark-mode') ? 'light' : 'dark')
    show()
  })
  show()
}

function keepWorkspace() {
  const input = element('workspace')
  input.value = localStorage.getItem(keys.workspace) ?? ''
  input.addEventListener('change', () => localStorage.setItem(keys.workspace, input.value.trim()))
  return input
}

const addressOf = (topic, id) => `#/${encodeURIComponent(topic.replaceAll(' ', '_'))}${id ? `/${id}` : ''}`

function showTopics(topics) {
  const operation = (topic) => (each) =>
    create(
      'a',
      { href: addressOf(topic, each.id), title: `${each.method.toUpperCase()} ${each.path}` },
      create('span', { className: `method ${each.method}`, textContent: each.method }),
      each.summary,
    )
  const groups = topics.map(({ name, operations }) => {
    const group = create(
      'details',
      {},
      create('summary', { textContent: name }),
      ...operations.map(operation(name)),
    )
    group.dataset.topic = name
    return group
  })
  element('topics').replaceChildren(create('a', { href: '#/', textContent: 'Guides' }), ...groups)
  element('search').addEventListener('input', ({ target }) =>
    filterTopics(groups, target.value.trim().toLowerCase()),
  )
  return groups
}

function filterTopics(groups, text) {
  for (const group of groups) {
    const links = [...group.querySelectorAll('a')]
    for (const link of links)
      link.hidden = !`${link.textContent} ${link.title} ${link.href}`.toLowerCase().includes(text)
    group.hidden = links.every(({ hidden }) => hidden)
    group.open = text !== '' && !group.hidden
  }
}

/** Swagger UI over one part of the document; what is typed into *Authorize* stays while the page is open. */
function startSwagger(spec, workspace) {
  return window.SwaggerUIBundle({
    spec,
    requestInterceptor(request) {
      const slug = workspace.value.trim()
      if (slug) request.headers['X-Workspace'] ??= slug
      return request
    },
    domNode: element('reference'),
    deepLinking: true,
    displayOperationId: true,
    displayRequestDuration: true,
    docExpansion: 'list',
    defaultModelsExpandDepth: -1,
    // A token is the page's for as long as it is open: if it were kept, any script on this origin could read it.
    persistAuthorization: false,
    tryItOutEnabled: true,
    validatorUrl: null,
  })
}

/** Resolves with the script of Swagger UI, which may come after the document. */
const swaggerLoaded = () =>
  new Promise((resolve, reject) => {
    if (window.SwaggerUIBundle) return resolve()
    const script = document.querySelector('script[src*="swagger-ui-bundle"]')
    script.addEventListener('load', resolve)
    script.addEventListener('error', () => reject(new Error('its script did not load')))
  })

async function showReference() {
  // What earlier versions of this page have kept.
  localStorage.removeItem('authorized')
  followTheme()
  const workspace = keepWorkspace()
  const answer = await fetch('/api/v1/openapi.json')
  const description = makeWorkspaceOptional(describeFilters(await answer.json()))
  const groups = showTopics(listTopics(description))
  await swaggerLoaded()
  let shown
  let swagger
  const show = () => {
    const topic = topicInAddress(location.hash)
    for (const group of groups) if (group.dataset.topic === topic) group.open = true
    if (swagger === undefined) swagger = startSwagger(extractTopic(description, topic), workspace)
    else {
      if (topic !== shown) swagger.specActions.updateSpec(JSON.stringify(extractTopic(description, topic)))
      swagger.layoutActions.parseDeepLinkHash(location.hash)
    }
    shown = topic
  }
  window.addEventListener('hashchange', show)
  show()
}

showReference().catch((error) => {
  element('reference').textContent = `The description could not be loaded: ${error.message}`
})
