import { ApiError, originPrefix } from '@opsplane/contracts'
import { checkDeprecation } from '../server/deprecation.js'
import type { Route } from './route.js'
import { findSecretField } from './secret-field.js'

export type PathValues = Record<string, string>

interface Node<Target> {
  literals: Map<string, Node<Target>>
  parameter: Node<Target> | undefined
  /** Matches the rest of a path, which may be empty. */
  rest: Node<Target> | undefined
  /** By upper-case method. */
  operations: Map<string, { target: Target; names: string[] }>
}

/**
 * Finds the operation for a path in a time independent of the number of routes. A literal segment
 * takes precedence over a parameter, and a parameter over a rest such as `*path`, whatever the order
 * of declaration; a trailing slash is ignored.
 */
export class RouteTree<Target> {
  readonly #root: Node<Target> = emptyNode()

  /** Throws if the path is already in use. */
  add(method: string, path: string, target: Target): void {
    let node = this.#root
    const names: string[] = []
    for (const segment of segmentsOf(path)) {
      if (isParameter(segment) || isRest(segment)) names.push(segment.slice(1))
      node = childFor(node, segment)
    }
    const upper = method.toUpperCase()
    if (node.operations.has(upper)) throw new Error(`two routes are ${upper} ${path}`)
    node.operations.set(upper, { target, names })
  }

  /**
   * The target of a path, whatever the values of its parameters; `undefined` for an
   * unknown path or method. Never throws.
   */
  lookup(method: string, path: string): Target | undefined {
    return below(this.#root, path, 1, method === 'HEAD' ? 'GET' : method)
  }

  /**
   * The target and its path parameters, or `undefined` for an unknown path. Throws `method_not_allowed` if only the
   * method is wrong, URIError if a parameter is not correctly percent-encoded.
   */
  find(method: string, path: string): { target: Target; params: PathValues } | undefined {
    const segments = segmentsOf(path)
    const values: string[] = []
    const allowed = new Set<string>()
    const routeMethod = method === 'HEAD' ? 'GET' : method

    const walk = (node: Node<Target>, depth: number): { target: Target; names: string[] } | undefined => {
      const segment = segments[depth]
      if (segment === undefined) {
        const own = node.rest ?? node
        for (const name of own.operations.keys()) allowed.add(name)
        return own.operations.get(routeMethod)
      }
      const literal = node.literals.get(segment)
      const found = literal && walk(literal, depth + 1)
      if (found) return found
      if (node.parameter && segment !== '') {
        values[depth] = segment
        const below = walk(node.parameter, depth + 1)
        if (below) return below
        delete values[depth]
      }
      return node.rest && matchRest(node.rest, depth)
    }
    const matchRest = (node: Node<Target>, depth: number) => {
      values[depth] = segments.slice(depth).join('/')
      return walk({ ...node, rest: undefined }, segments.length)
    }

    const operation = walk(this.#root, 0)
    if (operation) return { target: operation.target, params: toPathValues(operation.names, values) }
    if (allowed.size > 0) throw methodNotAllowed(method, [...allowed])
    return undefined
  }
}

/** The target at `path`, matched from the segment that begins at `from`. */
function below<Target>(node: Node<Target>, path: string, from: number, method: string): Target | undefined {
  if (from >= path.length) return (node.rest ?? node).operations.get(method)?.target
  const slash = path.indexOf('/', from)
  const end = slash === -1 ? path.length : slash
  const literal = node.literals.get(path.slice(from, end))
  const found = literal && below(literal, path, end + 1, method)
  if (found !== undefined) return found
  const parameter = end === from ? undefined : node.parameter
  const value = parameter && below(parameter, path, end + 1, method)
  return value ?? node.rest?.operations.get(method)?.target
}

/**
 * Throws if two routes have the same operation id, an internal route has the wrong path or names no callers, a
 * login cannot be verified, the dates of a deprecation are invalid, or a secret in a response would be stored
 * for replay or could be created without a step-up.
 */
export function checkRoutes(routes: readonly Route[], hasVerifier: boolean): void {
  const seen = new Set<string>()
  for (const route of routes) {
    const { operationId, scope, path, callers, deprecated } = route
    if (seen.has(operationId)) throw new Error(`two routes are ${operationId}`)
    seen.add(operationId)
    if ((scope === 'service') !== path.startsWith('/internal/')) {
      throw new Error(`${operationId}: /internal/* and the scope "service" go together`)
    }
    if ((scope === 'service') !== callers.length > 0) {
      throw new Error(`${operationId}: internal routes name their callers, and no others do`)
    }
    if (!hasVerifier && scope !== 'public') {
      throw new Error(`${operationId}: a route that needs a login needs a verifier`)
    }
    if (deprecated) checkDeprecation(operationId, deprecated)
    const secret = findSecretField(route)
    if (secret !== undefined && route.idempotency !== 'none' && !route.redactReplay) {
      throw new Error(
        `${operationId}: it answers ${secret}, which redactReplay must keep out of what is replayed`,
      )
    }
    if (secret !== undefined && outlivesSession(route) && !route.stepUp) {
      throw new Error(`${operationId}: it answers ${secret}, which outlives the session: it takes stepUp`)
    }
  }
}

/** Whether a secret returned by the route remains useful to an attacker after a hijacked session has ended. */
const outlivesSession = ({ scope, method }: Route): boolean =>
  scope !== 'public' && scope !== 'service' && method !== 'get'

const maxNamedPath = 200

/** Names the path as in the API reference; long paths are truncated. */
export function routeNotFound(method: string, path: string): ApiError {
  const publicPath = path.startsWith(`${originPrefix}/`) ? path.slice(originPrefix.length) : path
  const shown = publicPath.length > maxNamedPath ? `${publicPath.slice(0, maxNamedPath)}…` : publicPath
  return new ApiError('route_not_found', `There is no operation ${method} ${shown}.`)
}

export function methodNotAllowed(method: string, methods: string[]): ApiError {
  const allowed = (methods.includes('GET') ? ['HEAD', ...methods] : methods).sort().join(', ')
  return new ApiError('method_not_allowed', `${method} is not possible here. Allowed: ${allowed}.`, {
    headers: { Allow: allowed },
  })
}

function segmentsOf(path: string): string[] {
  const segments = path.split('/')
  segments.shift()
  if (segments.at(-1) === '') segments.pop()
  return segments
}

function childFor<Target>(node: Node<Target>, segment: string): Node<Target> {
  if (isParameter(segment)) {
    node.parameter ??= emptyNode()
    return node.parameter
  }
  if (isRest(segment)) {
    node.rest ??= emptyNode()
    return node.rest
  }
  const child = node.literals.get(segment) ?? emptyNode<Target>()
  node.literals.set(segment, child)
  return child
}

function emptyNode<Target>(): Node<Target> {
  return { literals: new Map(), parameter: undefined, rest: undefined, operations: new Map() }
}

const isParameter = (segment: string) => segment.startsWith(':')
const isRest = (segment: string) => segment.startsWith('*')

/** `values` is a sparse array: it has a hole for each literal segment. */
function toPathValues(names: string[], values: string[]): PathValues {
  const params: PathValues = {}
  let index = 0
  values.forEach((value) => {
    const name = names[index++]
    if (name !== undefined) params[name] = value.includes('%') ? decodeURIComponent(value) : value
  })
  return params
}
