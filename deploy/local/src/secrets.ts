import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { type InternalParty, internalParties, serviceNames } from '@opsplane/contracts'
import { type Installation, installationIdPattern, newInstallation } from '@opsplane/postgres'
import { z } from 'zod'
import { mapNames } from './map-names.js'

const KeyPair = z.object({ privateKey: z.string(), publicKey: z.string() })
type KeyPair = z.infer<typeof KeyPair>

/** Stored secrets of an installation; a service added since then has no keys in it yet. */
export const KeptSecrets = z.object({
  /**
   * Installation whose names are used on shared servers; absent if a version without installations created the
   * secrets.
   */
  installation: z.object({ id: z.string().regex(installationIdPattern), rolePrefix: z.string() }).optional(),
  masterKey: z.string(),
  /** Master keys that the present one replaces, until the next start has rewrapped every data key. */
  previousMasterKeys: z.array(z.string()).default([]),
  cursorSecret: z.string(),
  /** Private key that signs the checkpoints of audit chains. */
  auditSigningKey: z.string().optional(),
  databasePasswords: z.record(z.string(), z.string()),
  serviceKeys: z.record(z.string(), KeyPair),
  /** Passwords of the users of the local run's own NATS server. */
  natsPasswords: z.record(z.string(), z.string()).default({}),
  /** Services of customers that read events. */
  natsSubscribers: z
    .array(z.object({ name: z.string(), password: z.string(), durable: z.string() }))
    .default([]),
  owner: z.object({
    email: z.string(),
    password: z.string(),
    workspace: z.string(),
    apiKey: z.string().optional(),
  }),
})
type KeptSecrets = z.infer<typeof KeptSecrets>

export type LocalSecrets = KeptSecrets & {
  installation: Installation
  auditSigningKey: string
  serviceKeys: Record<InternalParty, KeyPair>
}

function newKeyPair(): KeyPair {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  return {
    privateKey: privateKey.export({ type: 'pkcs8', format: 'der' }).toString('base64'),
    publicKey: publicKey.export({ type: 'spki', format: 'der' }).toString('base64'),
  }
}

export const newMasterKey = () => randomBytes(32).toString('base64')

/** Generates the secrets that are not stored yet. */
export function completeSecrets(kept?: KeptSecrets): LocalSecrets {
  const password = () => randomBytes(18).toString('base64url')
  return {
    masterKey: newMasterKey(),
    previousMasterKeys: [],
    natsSubscribers: [],
    cursorSecret: randomBytes(32).toString('base64url'),
    owner: { email: 'owner@opsplane.local', password: password(), workspace: 'demo' },
    ...kept,
    installation: kept ? (kept.installation ?? { ...newInstallation(), rolePrefix: '' }) : newInstallation(),
    auditSigningKey: kept?.auditSigningKey ?? newKeyPair().privateKey,
    databasePasswords: { ...mapNames(serviceNames, password), ...kept?.databasePasswords },
    natsPasswords: { ...mapNames(internalParties, password), ...kept?.natsPasswords },
    serviceKeys: { ...mapNames(internalParties, newKeyPair), ...kept?.serviceKeys },
  }
}
