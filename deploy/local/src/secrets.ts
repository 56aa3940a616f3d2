import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { z } from 'zod'

/** Every party that signs internal tokens. `operator` is the command line itself, for bootstrapping. */
export const parties = ['gateway', 'settings', 'itsm', 'dispatcher', 'operator'] as const
export type Party = (typeof parties)[number]

const KeyPair = z.object({ privateKey: z.string(), publicKey: z.string() })

export const LocalSecrets = z.object({
  masterKey: z.string(),
  /** What the present master key takes the place of, until the next start has wrapped every data key anew. */
  previousMasterKeys: z.array(z.string()).default([]),
  cursorSecret: z.string(),
  databasePasswords: z.record(z.string(), z.string()),
  serviceKeys: z.record(z.enum(parties), KeyPair),
  owner: z.object({
    email: z.string(),
    password: z.string(),
    workspace: z.string(),
    apiKey: z.string().optional(),
  }),
})
export type LocalSecrets = z.infer<typeof LocalSecrets>

function newKeyPair(): z.infer<typeof KeyPair> {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  return {
    privateKey: privateKey.export({ type: 'pkcs8', format: 'der' }).toString('base64'),
    publicKey: publicKey.export({ type: 'spki', format: 'der' }).toString('base64'),
  }
}

export const newMasterKey = () => randomBytes(32).toString('base64')

export function newLocalSecrets(): LocalSecrets {
  const password = () => randomBytes(18).toString('base64url')
  return {
    masterKey: newMasterKey(),
    previousMasterKeys: [],
    cursorSecret: randomBytes(32).toString('base64url'),
    databasePasswords: Object.fromEntries(parties.map((party) => [party, password()])),
    serviceKeys: {
      gateway: newKeyPair(),
      settings: newKeyPair(),
      itsm: newKeyPair(),
      dispatcher: newKeyPair(),
      operator: newKeyPair(),
    },
    owner: { email: 'owner@opsplane.local', password: password(), workspace: 'demo' },
  }
}
