import {
  ApiError,
  builtInClasses,
  type CiClass,
  type CiClassPatch,
  CiClassState,
  type CommandMeta,
  invalidField,
  type NewCiClass,
  newId,
  notFound,
  type TenantScope,
} from '@opsplane/contracts'
import { preconditionFailed } from '@opsplane/eventstore'
import type { ServiceContext } from '@opsplane/service'
import { classRows } from '../queries.js'
import { ciClass } from './class-domain.js'

/** The classes of a workspace: the built-in ones, possibly changed by the workspace, and its own. */
export function classStore({ store, database }: ServiceContext) {
  const aggregate = store.aggregate(ciClass, { present: presentClass })
  const rows = async (tenant: TenantScope, name: string) =>
    (await classRows(database.db, tenant, name)).map(({ state }) => CiClassState.parse(state))

  return {
    /** Returns a class. A built-in class has always existed, a class of the workspace since its creation. */
    async get(name: string, tenant: TenantScope, asOf: string | undefined): Promise<CiClass> {
      const [row] = await rows(tenant, name)
      if (row && (asOf === undefined || row.createdAt <= asOf)) return aggregate.asOf(row.id, tenant, asOf)
      if (!isBuiltIn(name)) throw notFound()
      return unchangedClass(name)
    },
    create: (input: NewCiClass, meta: CommandMeta): Promise<CiClass> => {
      if (isBuiltIn(input.name))
        throw invalidField('/name', 'built_in', 'There is a built-in class of this name.')
      const id = newId('ciClass')
      return aggregate.create(id, { kind: 'create', id, now: meta.now, input }, meta).catch(rethrowNameTaken)
    },
    /** The first change of a built-in class creates its row. */
    async patch(name: string, patch: CiClassPatch, meta: CommandMeta): Promise<CiClass> {
      const edit = ({ id }: CiClassState) =>
        aggregate.handle(id, { kind: 'patch', patch, now: meta.now }, meta)
      const [row] = await rows(meta.tenant, name)
      if (row) return edit(row)
      if (!isBuiltIn(name)) throw notFound()
      if ((meta.expectedVersion ?? 0) !== 0) throw preconditionFailed(0)
      const id = newId('ciClass')
      const input = { name, label: patch.label ?? unchangedClass(name).label, schema: patch.schema ?? null }
      try {
        return await aggregate.create(id, { kind: 'create', id, now: meta.now, input }, meta)
      } catch (error) {
        // A concurrent first change has created the row.
        const [made] = isNameTaken(error) ? await rows(meta.tenant, name) : []
        if (!made) throw error
        return edit(made)
      }
    },
    /** Returns the schema of a class. Throws validation_failed naming /class if there is no such class. */
    async findSchema(name: string, tenant: TenantScope): Promise<CiClass['schema']> {
      const [row] = await rows(tenant, name)
      if (row === undefined && !isBuiltIn(name))
        throw invalidField(
          '/class',
          'unknown_class',
          'There is no such class in this workspace and environment.',
        )
      return row?.schema ?? null
    },
  }
}
export type ClassStore = ReturnType<typeof classStore>

const isNameTaken = (error: unknown): boolean =>
  error instanceof ApiError && error.details[0]?.params?.constraint === 'ci_classes_name_key'

/** Rethrows the error. If the class name is already taken, throws conflict with a message that says so. */
function rethrowNameTaken(error: unknown): never {
  if (!isNameTaken(error)) throw error
  throw new ApiError('conflict', 'There is a class of this name already.', {
    details: [{ in: 'body', path: '/name', code: 'not_unique', message: 'must be a new name' }],
    cause: error,
  })
}

const isBuiltIn = (name: string) => Object.hasOwn(builtInClasses, name)

/** A built-in class that the workspace has not changed. */
export const unchangedClass = (name: string): CiClass => ({
  name,
  label: builtInClasses[name] ?? name,
  schema: null,
  builtIn: true,
  version: 0,
})

export function presentClass({ name, label, schema }: CiClassState, version: number): CiClass {
  return { name, label, schema, builtIn: isBuiltIn(name), version }
}
