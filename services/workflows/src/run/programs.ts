import type { TenantScope, WorkflowDefinition } from '@opsplane/contracts'
import type { StatementRunner } from '@opsplane/postgres'
import { compileProgram, type Program } from '../engine/program.js'

/** A version of a workflow, or a draft as it is tested: immutable. */
export interface PinnedVersion {
  definition: WorkflowDefinition
  /** Outputs that stand in for steps, in tests of a draft. */
  pins?: Readonly<Record<string, unknown>>
}

/** By the reference that runs are pinned to, read in the transaction `tx` if there is one. Throws `not_found` where there is none such. */
export type LoadVersion = (ref: string, tenant: TenantScope, tx?: StatementRunner) => Promise<PinnedVersion>

export interface LoadedProgram {
  program: Program
  version: PinnedVersion
}

export type Programs = (ref: string, tenant: TenantScope, tx?: StatementRunner) => Promise<LoadedProgram>

const maxKept = 500

/** Compiles each version once; those asked for longest ago are forgotten first. */
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
