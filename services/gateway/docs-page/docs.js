const workspaceKey = 'opsplane-docs-workspace'

/** The workspace at the top of the page is that of every operation, so that trying one out needs no typing. */
function leaveWorkspaceOpen(description) {
  const parameter = description.components?.parameters?.Workspace
  if (parameter) {
    parameter.required = false
    parameter.description = 'Slug of the workspace; the one at the top of this page unless given here.'
  }
  return description
}

/** Filters are described by examples, not filled in with them: all of them at once find nothing. */
function unfillFilters(description) {
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

async function showReference() {
  // What earlier versions of this page have kept.
  localStorage.removeItem('authorized')

  const input = document.getElementById('workspace')
  input.value = localStorage.getItem(workspaceKey) ?? ''
  input.addEventListener('change', () => localStorage.setItem(workspaceKey, input.value.trim()))

  const answer = await fetch('/api/v1/openapi.json')
  window.SwaggerUIBundle({
    spec: leaveWorkspaceOpen(unfillFilters(await answer.json())),
    requestInterceptor(request) {
      const workspace = input.value.trim()
      if (workspace) request.headers['X-Workspace'] ??= workspace
      return request
    },
    domNode: document.getElementById('reference'),
    deepLinking: true,
    displayOperationId: true,
    displayRequestDuration: true,
    docExpansion: 'list',
    defaultModelsExpandDepth: 0,
    filter: true,
    // A token is the page's for as long as it is open: kept, it would be anybody's who gets a script onto this origin.
    persistAuthorization: false,
    tryItOutEnabled: true,
    validatorUrl: null,
  })
}

showReference().catch((error) => {
  document.getElementById('reference').textContent = `The description could not be loaded: ${error.message}`
})
