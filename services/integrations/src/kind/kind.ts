import type { Principal, SecretTarget, TenantScope } from '@opsplane/contracts'
import { jsonPointer } from '@opsplane/http'
import type { Logger } from '@opsplane/runtime'
import type { z } from 'zod'
import { findReferences } from './references.js'
import type { Secrets } from './secrets.js'

/** Who an invocation is made for; null for checks, which the platform makes by itself. */
export interface Invoker {
  principal: Principal
  /** The token the request came with, by which to go on in the caller's name. */
  token: string | undefined
}

/** One use of a connector, as its kind sees it. */
export interface Call<Config = unknown> {
  config: Config
  connectorId: string
  tenant: TenantScope
  invoker: Invoker | null
  /** Aborts at the deadline, with a CallFailure of the kind `timeout`, or when the caller has gone. */
  signal: AbortSignal
  /** Milliseconds left until the deadline, at least 1. */
  remainingMs(): number
  /** The same for every attempt, and for the same invocation asked for again with its Idempotency-Key. */
  idempotencyKey: string
  /** The run or the execution it is made in; null for what a person or a check asks for. */
  cause: string | null
  secrets: Secrets
  log: Logger
}

/** Something a connector can do, ready to be done: its types are known to its kind alone. */
export interface Action {
  name: string
  title: string
  description: string
  /** JSON Schema, draft 2020-12. */
  input: Record<string, unknown>
  output: Record<string, unknown>
  /** The input as the action takes it. Throws `validation_failed` with paths below `/input`. */
  parse(input: unknown): unknown
  repeats: 'always' | 'by_input' | 'never'
  /** Whether it may be done again although an earlier attempt may have had its effect. */
  repeatable(input: unknown): boolean
  /** Makes one attempt. Throws CallFailure. */
  run(call: Call, input: unknown): Promise<unknown>
}

/** One sort of what can be connected. Adding one is a recipe in CONTRIBUTING. */
export interface Kind {
  name: string
  title: string
  description: string
  /** What is stored of a configuration is its output, which it takes again. */
  config: z.ZodType<object>
  /** Refuses what a schema cannot, such as addresses that are never called. Throws `validation_failed` below `/config`. */
  check(config: unknown): void
  /** The secrets that a configuration refers to, each with the hosts it goes to. */
  secretTargets(config: unknown): ConfigTarget[]
  /** Those every connector of the kind has. */
  actions: readonly Action[]
  /** Whether a connector has further ones, by its configuration. */
  hasFurtherActions: boolean
  /** The names of all of one connector. Throws CallFailure. */
  actionNames(call: Call): Promise<string[]>
  /** All of one connector. Throws CallFailure. */
  actionsOf(call: Call): Promise<readonly Action[]>
  /** One of them. Throws CallFailure. */
  actionOf(call: Call, name: string): Promise<Action | undefined>
  /** Finds out whether what is connected answers, with a message for people. Throws CallFailure where it does not. */
  test(call: Call): Promise<string>
  close?(): Promise<void>
}

export interface ActionDefinition<Config, Input extends z.ZodType, Output extends z.ZodType> {
  title: string
  description: string
  input: Input
  output: Output
  repeatable: boolean | ((input: z.output<Input>) => boolean)
  run(call: Call<Config>, input: z.output<Input>): Promise<z.input<Output>>
}

/** A part of a configuration whose secrets go to one host. */
export interface SecretPart {
  path: readonly string[]
  value: unknown
  host: string
}

/** A secret of a configuration, and where in the request it is named. */
export type ConfigTarget = SecretTarget & { path: string }

const targetsIn = ({ path, value, host }: SecretPart): ConfigTarget[] =>
  findReferences(value, ['config', ...path]).map(({ name, path: at }) => ({
    ...{ name, hosts: [host], path: jsonPointer(at) },
  }))

export interface KindDefinition<Config extends object> {
  name: string
  title: string
  description: string
  config: z.ZodType<Config>
  check?(config: Config): void
  /** Where its secrets go: parts of the configuration, by their names in it, and the host of each. */
  sendsTo(config: Config): readonly SecretPart[]
  /** By name. */
  actions: Readonly<Record<string, (name: string) => Action>>
  /** Further ones, which depend on the configuration. */
  furtherActions?(call: Call<Config>): Promise<readonly Action[]>
  /** Their names, where these are had with less work. */
  furtherNames?(call: Call<Config>): Promise<readonly string[]>
  /** One of the further ones, where it need not be looked for among all. */
  findAction?(call: Call<Config>, name: string): Promise<Action | undefined>
  test(call: Call<Config>): Promise<string>
  close?(): Promise<void>
}

const namesOf = (actions: readonly Action[]) => actions.map(({ name }) => name)

export function defineKind<Config extends object>(definition: KindDefinition<Config>): Kind {
  const { furtherActions, furtherNames, findAction, check, sendsTo, test, close, ...rest } = definition
  const actions = Object.entries(definition.actions).map(([name, make]) => make(name))
  // Configurations come from the kind's own schema alone.
  const own = (call: Call) => call as Call<Config>
  const actionsOf = async (call: Call) =>
    furtherActions ? [...actions, ...(await furtherActions(own(call)))] : actions
  return {
    ...rest,
    check: (config) => check?.(config as Config),
    secretTargets: (config) => sendsTo(config as Config).flatMap(targetsIn),
    actions,
    hasFurtherActions: furtherActions !== undefined,
    actionNames: async (call) =>
      furtherNames
        ? [...namesOf(actions), ...(await furtherNames(own(call)))]
        : namesOf(await actionsOf(call)),
    actionsOf,
    actionOf: async (call, name) =>
      actions.find((action) => action.name === name) ??
      (findAction
        ? findAction(own(call), name)
        : (await actionsOf(call)).find((action) => action.name === name)),
    test: (call) => test(own(call)),
    ...(close && { close }),
  }
}
