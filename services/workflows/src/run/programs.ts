import type { TenantScope, WorkflowDefinition } from '@opsplane/contracts'
import type { StatementRunner } from '@opsplane/postgres'
import { compileProgram, type Program } from '../engine/program.js'

/** An immutable version of a workflow, or a tested draft. */
export interface PinnedVersion {
  definition: WorkflowDefinition
  /** Outputs that replace the execution of steps in tests of a draft. */
  pins?: Readonly<Record<string, unknown>>
}

/** Loads the version a run is pinned to, in the transaction `tx` if given. Throws `not_found` if it does not exist. */
export type LoadVersion = (ref: string, tenant: TenantScope, tx?: StatementRunner) => Promise<PinnedVersion>

export interface LoadedProgram {
  program: Program
  version: PinnedVersion
}

export type Programs = (ref: string, tenant: TenantScope, tx?: StatementRunner) => Promise<LoadedProgram>

const maxKept = 500

/** Compiles each version once; the least recently used are evicted first. */
export function createPrograms(load: LoadVersion): Programs {
  const kept = new Map<string, Promise<LoadedProgram>>()
  const compile = async (ref: string, tenant: TenantScope, tx?: StatementRunner) => {
    const version = await load(ref, tenant, tx)
    const { definition, pins = {} } = version
    return { program: compileProgram(definition, { pins }), version }
  }
  return (ref, tenant, tx) => {
    const key = `${tenant.workspaceId}/${tenant.environment}/${ref}`
    const found = kept.get(key) ?? compile(ref, tenant, tx)
    kept.delete(key)
    kept.set(key, found)
    found.catch(() => kept.delete(key))
    const [oldest] = kept.keys()
    if (kept.size > maxKept && oldest !== undefined) kept.delete(oldest)
    return found
  }
}
