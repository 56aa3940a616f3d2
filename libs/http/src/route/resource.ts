import type { z } from 'zod'
import { defineList, type ListContract } from './list.js'
import { defineRoute, type PathSchema, type Route, type RouteContract, type Scope } from './route.js'

/** Properties shared by all operations on one kind of resource. */
export interface Resource<Path extends string, Key extends string, Shown extends z.ZodType> {
  /** Singular name in operation ids: `Report` results in `createReport`, `getReport`. */
  name: string
  /** Plural name, as in `listReports`; default: the name and an s. */
  plural?: string
  /** Path of the collection, such as `/analytics/reports`. */
  path: Path
  /** Path parameter that identifies a single resource; default `id`. */
  key?: Key
  tag: string
  /** The scope of `list` and `get`. */
  read: Scope
  /** The scope of all other operations. */
  write: Scope
  response: Shown
}

/** A contract without the properties the resource provides. An operation can override them. */
type Operation<Contract extends { [Name in DerivedField]?: unknown }> = Omit<
  Contract,
  DerivedField | 'path'
> &
  Partial<Pick<Contract, DerivedField>>
type DerivedField = 'operationId' | 'method' | 'tag' | 'scope' | 'response'

type NoQuery = z.ZodObject<Record<never, never>>

/**
 * Builders for the routes of a resource: each builds one operation from a contract with only its own properties.
 * Operations that fit none of them use `defineRoute` or `defineList`.
 */
export function defineResource<
  const Path extends string,
  Shown extends z.ZodType,
  const Key extends string = 'id',
>(resource: Resource<Path, Key, Shown>) {
  const { name, plural = `${name}s`, path, key = 'id', tag, read, write, response } = resource
  const one = `${path}/:${key}`
  type One = `${Path}/:${Key}`
  type OnAll<R extends z.ZodType, Q extends z.ZodObject, B extends z.ZodType> = Operation<
    RouteContract<Path, R, PathSchema<Path>, Q, B>
  >
  type OnOne<R extends z.ZodType, Q extends z.ZodObject, B extends z.ZodType> = Operation<
    RouteContract<One, R, PathSchema<One>, Q, B>
  >
  /** The compiler cannot assemble a generic contract. */
  const define = (verb: string, own: Pick<AnyContract, 'method' | 'path'>, operation: object): Route => {
    const shared = { tag, scope: own.method === 'get' ? read : write, response }
    const contract: object = { operationId: `${verb}${name}`, ...shared, ...own, ...operation }
    return defineRoute(contract as AnyContract)
  }

  return {
    /** `GET` of the collection, one page at a time. */
    list<
      R extends z.ZodType = Shown,
      const Sorts extends readonly string[] = readonly ['-createdAt'],
      Q extends z.ZodObject = NoQuery,
    >(operation: Operation<ListContract<Path, R, Sorts, PathSchema<Path>, Q>>): Route {
      const own = { operationId: `list${plural}`, path, tag, scope: read, response }
      return defineList({ ...own, ...operation } as ListContract<Path, R, Sorts, PathSchema<Path>, Q>)
    },

    /** `GET` of one resource. */
    get<R extends z.ZodType = Shown, Q extends z.ZodObject = NoQuery>(
      operation: OnOne<R, Q, z.ZodUndefined>,
    ): Route {
      return define('get', { method: 'get', path: one }, operation)
    },

    /** `POST`; responds with 201 and the new resource. */
    create<
      R extends z.ZodType = Shown,
      Q extends z.ZodObject = NoQuery,
      B extends z.ZodType = z.ZodUndefined,
    >(operation: OnAll<R, Q, B>): Route {
      return define('create', { method: 'post', path }, { status: 201, ...operation })
    },

    /** `PATCH` of one resource. */
    update<
      R extends z.ZodType = Shown,
      Q extends z.ZodObject = NoQuery,
      B extends z.ZodType = z.ZodUndefined,
    >(operation: OnOne<R, Q, B>): Route {
      return define('update', { method: 'patch', path: one }, operation)
    },

    /** `DELETE` of one resource; 204 unless it has a response. */
    delete<
      R extends z.ZodType = z.ZodVoid,
      Q extends z.ZodObject = NoQuery,
      B extends z.ZodType = z.ZodUndefined,
    >(operation: OnOne<R, Q, B>): Route {
      return define('delete', { method: 'delete', path: one }, { response: undefined, ...operation })
    },

    /** `POST` of an action on one resource: `take-over` is `takeOverReport` at `/analytics/reports/:id/take-over`. */
    action<
      R extends z.ZodType = Shown,
      Q extends z.ZodObject = NoQuery,
      B extends z.ZodType = z.ZodUndefined,
    >(action: string, operation: OnOne<R, Q, B>): Route {
      const verb = action.replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())
      return define(verb, { method: 'post', path: `${one}/${action}` }, operation)
    },
  }
}

type AnyContract = RouteContract<string, z.ZodType, z.ZodObject, z.ZodObject, z.ZodType>
