import type { Principal, SecretTarget, TenantScope } from '@opsplane/contracts'
import { jsonPointer } from '@opsplane/http'
import type { Logger } from '@opsplane/runtime'
import type { z } from 'zod'
import { findReferences } from './references.js'
import type { Secrets } from './secrets.js'

/** The principal an invocation is made for; `null` for the platform's own checks. */
export interface Invoker {
  principal: Principal
  /** The token of the request, used for further calls with the caller's rights. */
  token: string | undefined
}

/** One use of a connector, as its kind sees it. */
export interface Call<Config = unknown> {
  config: Config
  connectorId: string
  tenant: TenantScope
  invoker: Invoker | null
  /** Aborts with a `CallFailure`: `timeout` at the deadline, `cancelled` when the caller disconnects. */
  signal: AbortSignal
  /** Milliseconds left until the deadline, at least 1. */
  remainingMs(): number
  /** The same for every attempt, and for an invocation repeated with its `Idempotency-Key`. */
  idempotencyKey: string
  /** The run or execution the call is made in; `null` for calls by a person or a check. */
  cause: string | null
  secrets: Secrets
  log: Logger
}

/** An action of a connector. The types of its input and output are known only to its kind. */
export interface Action {
  name: string
  title: string
  description: string
  /** JSON Schema, draft 2020-12. */
  input: Record<string, unknown>
  output: Record<string, unknown>
  /** Converts the input to the action's type. Throws `validation_failed` with paths below `/input`. */
  parse(input: unknown): unknown
  repeats: 'always' | 'by_input' | 'never'
  /** Whether the action may be repeated although an earlier attempt may have had its effect. */
  repeatable(input: unknown): boolean
  /** Makes one attempt. Throws `CallFailure`. */
  run(call: Call, input: unknown): Promise<unknown>
}

/** A type of connected system. CONTRIBUTING describes how to add one. */
export interface Kind {
  name: string
  title: string
  description: string
  /** Schema of configurations. Its output is stored, and is valid as its input. */
  config: z.ZodType<object>
  /**
   * Checks a schema cannot express, such as addresses that must not be called. Throws `validation_failed` below
   * `/config`.
   */
  check(config: unknown): void
  /** The secrets that a configuration refers to, each with the hosts it is sent to. */
  secretTargets(config: unknown): ConfigTarget[]
  /** Actions that every connector of the kind has. */
  actions: readonly Action[]
  /** Whether connectors have further actions that depend on their configuration. */
  hasFurtherActions: boolean
  /** Names of all actions of a connector. Throws `CallFailure`. */
  actionNames(call: Call): Promise<string[]>
  /** All actions of a connector. Throws `CallFailure`. */
  actionsOf(call: Call): Promise<readonly Action[]>
  /** The action with this name. Throws `CallFailure`. */
  actionOf(call: Call, name: string): Promise<Action | undefined>
  /**
   * Tests whether the connected system responds. Returns a message for people. Throws `CallFailure` if it does not
   * respond.
   */
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

/** A part of a configuration whose secrets are sent to one host. */
export interface SecretPart {
  path: readonly string[]
  value: unknown
  host: string
}

/** A secret of a configuration, with its path in the request. */
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
  /** Destinations of its secrets: parts of the configuration, by name, each with its host. */
  sendsTo(config: Config): readonly SecretPart[]
  /** Factories of actions by name. */
  actions: Readonly<Record<string, (name: string) => Action>>
  /** Further actions, which depend on the configuration. */
  furtherActions?(call: Call<Config>): Promise<readonly Action[]>
  /** Names of the further actions, if they can be obtained with less work than the actions. */
  furtherNames?(call: Call<Config>): Promise<readonly string[]>
  /** Finds one further action, if that is possible without loading all of them. */
  findAction?(call: Call<Config>, name: string): Promise<Action | undefined>
  test(call: Call<Config>): Promise<string>
  close?(): Promise<void>
}

const namesOf = (actions: readonly Action[]) => actions.map(({ name }) => name)

export function defineKind<Config extends object>(definition: KindDefinition<Config>): Kind {
  const { furtherActions, furtherNames, findAction, check, sendsTo, test, close, ...rest } = definition
  const actions = Object.entries(definition.actions).map(([name, make]) => make(name))
  // The cast is safe: configurations always come from the kind's own schema.
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
