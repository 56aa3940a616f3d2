import type { Route } from './route.js'

/** Path of the resource a request created, below the service's root; `undefined` if the response has no id. */
export type Locate = (params: unknown, data: unknown) => string | undefined

/**
 * Returns a function that computes the path of a created resource, if the route answers 201 and another route reads
 * single resources below its path, or below `createdBelow`.
 */
export function locator(route: Route, routes: readonly Route[]): Locate | undefined {
  if (route.status !== 201) return undefined
  const collection = route.createdBelow ?? route.path
  const below = `${collection}/:`
  const reading = routes.find(
    ({ kind, method, path }) =>
      kind === 'single' &&
      method === 'get' &&
      path.startsWith(below) &&
      !path.slice(below.length).includes('/'),
  )
  if (!reading) return undefined
  const name = reading.path.slice(below.length)

  return (params, data) => {
    const id = textOf(data, name) ?? textOf(data, 'id')
    if (id === undefined) return undefined
    const parent = collection.replaceAll(/:(\w+)/g, (_, part: string) =>
      encodeURIComponent(textOf(params, part) ?? ''),
    )
    return `${parent}/${encodeURIComponent(id)}`
  }
}

function textOf(data: unknown, name: string): string | undefined {
  if (data === null || typeof data !== 'object') return undefined
  const value: unknown = Reflect.get(data, name)
  return typeof value === 'string' ? value : undefined
}
