const workspaceKey = 'opsplane-docs-workspace'

/** Fills X-Workspace in every operation, so that trying one out needs no typing. */
function presetWorkspace(description, slug) {
  const schema = description.components?.parameters?.Workspace?.schema
  if (schema && slug) schema.default = slug
  return description
}

async function showReference() {
  const slug = localStorage.getItem(workspaceKey) ?? ''
  const input = document.getElementById('workspace')
  input.value = slug
  input.addEventListener('change', () => {
    localStorage.setItem(workspaceKey, input.value.trim())
    location.reload()
  })

  const answer = await fetch('/api/v1/openapi.json')
  window.SwaggerUIBundle({
    spec: presetWorkspace(await answer.json(), slug),
    domNode: document.getElementById('reference'),
    deepLinking: true,
    displayOperationId: true,
    displayRequestDuration: true,
    docExpansion: 'list',
    defaultModelsExpandDepth: 0,
    filter: true,
    persistAuthorization: true,
    tryItOutEnabled: true,
    validatorUrl: null,
  })
}

showReference().catch((error) => {
  document.getElementById('reference').textContent = `The description could not be loaded: ${error.message}`
})
