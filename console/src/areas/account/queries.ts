import { queryOptions } from '@tanstack/react-query'
import { createApi } from '../../api/api.js'

/** Key of data that belongs to a login, independent of the workspace. */
const ofLogin = 'account'

export const loginQuery = queryOptions({
  queryKey: [ofLogin, 'me'],
  queryFn: async ({ signal }) => (await createApi().get('/auth/me', { signal })).data,
})

export const factorsQuery = queryOptions({
  queryKey: [ofLogin, 'factors'],
  queryFn: async ({ signal }) => (await createApi().get('/auth/factors', { signal })).data,
})

export const sessionsQuery = queryOptions({
  queryKey: [ofLogin, 'sessions'],
  queryFn: ({ signal }) => createApi().get('/auth/sessions', { params: { query: { limit: 50 } }, signal }),
})

export const identitiesQuery = queryOptions({
  queryKey: [ofLogin, 'identities'],
  queryFn: async ({ signal }) => (await createApi().get('/auth/identities', { signal })).data.identities,
})

/** Maximum number of workspaces whose providers are offered for linking. */
const maxWorkspaces = 20

/** The identity providers of the person's workspaces. */
export const linkableQuery = queryOptions({
  queryKey: [ofLogin, 'linkable'],
  queryFn: async ({ signal }) => {
    const { data } = await createApi().get('/workspaces', {
      params: { query: { limit: maxWorkspaces } },
      signal,
    })
    const found = data.map(async ({ slug, name: workspace }) => {
      const params = { query: { workspace: slug } }
      const { providers } = (await createApi().get('/auth/sso', { params, signal })).data
      return providers.map((provider) => ({ ...provider, workspace }))
    })
    return (await Promise.all(found)).flat()
  },
})
