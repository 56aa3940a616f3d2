import {
  hookHost,
  hostOfUrl,
  referencedSecrets,
  type SecretTarget,
  type Step,
  secretReference,
  type WorkflowDefinition,
  type WorkflowProblem,
} from '@opsplane/contracts'
import type { SavingMeta, SecretTargets } from '@opsplane/http'
import type { Logger } from '@opsplane/runtime'
import { problem } from './structure.js'
import { templateFields } from './templates.js'
import { type Path, visitSteps } from './walk.js'

/** A secret named in a definition, with its location. */
export type NamedSecret = SecretTarget & { step: string | null; path: Path }

/** All secrets named in a definition, with the host each is sent to if that is literal. */
export function findSecretTargets(definition: WorkflowDefinition): NamedSecret[] {
  const { trigger } = definition
  const steps = new Map(visitSteps(definition).map(({ step }) => [step.id, step]))
  const signed: NamedSecret[] =
    trigger.type === 'webhook' && trigger.signature
      ? [
          {
            ...{ name: trigger.signature.secret, hosts: [hookHost], step: null },
            path: ['trigger', 'signature', 'secret'],
          },
        ]
      : []
  const templateSecrets = templateFields(definition).flatMap(({ step, path, value }) => {
    const hosts = listHosts(step === null ? undefined : steps.get(step))
    const names = new Set(referencedSecrets(JSON.stringify(value)))
    return [...names].map((name) => ({ name, hosts, step, path }))
  })
  return [...signed, ...templateSecrets]
}

const listHosts = (step: Step | undefined): string[] => {
  const host = step?.type === 'http' ? literalHost(step.url) : undefined
  return host === undefined ? [] : [host]
}

/** The host of a URL, if no part of it is an expression; `undefined` if only a run can determine it. */
export function literalHost(url: string): string | undefined {
  const written = url.replaceAll(secretReference, 'secret')
  const [start = ''] = written.split('{{', 1)
  // An expression directly after the host could extend it.
  if (start !== written && !/^https?:\/\/[^/?#\\]+[/?#]/i.test(start)) return undefined
  return URL.canParse(start) ? hostOfUrl(start) : undefined
}

/**
 * Finds secrets that do not exist, or may not be sent to the host used by a step. If settings is unavailable, the
 * secrets are assumed to be valid, and a warning is logged.
 */
export async function checkSecrets(
  definition: WorkflowDefinition,
  meta: SavingMeta,
  { secretTargets, log }: { secretTargets: Pick<SecretTargets, 'check'>; log: Pick<Logger, 'warn'> },
): Promise<WorkflowProblem[]> {
  try {
    const found = await secretTargets.check(meta, findSecretTargets(definition))
    return found.map(({ target: { step, path }, code, message }) => problem(step, path, code, message))
  } catch (error) {
    log.warn({ err: error }, 'secrets were not checked: settings does not answer')
    return []
  }
}
