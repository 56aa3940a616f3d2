import { z } from 'zod'
import { idSchema } from '../core/ids.js'
import { type EventDefinition, resourceEvent } from '../events/catalog.js'

const At = z.iso.datetime({ precision: 3 })
const FactorName = z.string().trim().min(1).max(100).meta({ example: 'Phone' })

export const FactorKind = z.enum(['totp', 'passkey'])
export type FactorKind = z.infer<typeof FactorKind>

/** A second factor of a login, as contained in events. */
export const FactorState = z.object({
  id: idSchema('factor'),
  userId: idSchema('user'),
  kind: FactorKind,
  name: z.string(),
  createdAt: At,
})
export type FactorState = z.infer<typeof FactorState>

export const Factor = FactorState.omit({ userId: true })
  .extend({ lastUsedAt: At.nullable() })
  .meta({ id: 'Factor', description: 'A second factor of a login.' })
export type Factor = z.infer<typeof Factor>

export const Factors = z
  .object({
    factors: z.array(Factor).meta({ description: 'Factors of the login, oldest first.' }),
    recoveryCodesLeft: z
      .int()
      .min(0)
      .meta({ description: 'Number of recovery codes that have not been used.' }),
    passkeys: z
      .object({
        available: z.boolean(),
        reason: z.string().nullable().meta({
          description: 'Reason why this installation does not support passkeys; `null` if it does.',
        }),
      })
      .meta({ description: 'Whether passkeys can be added and used in this installation.' }),
  })
  .meta({ id: 'Factors' })
export type Factors = z.infer<typeof Factors>

export const NewFactor = z
  .strictObject({ name: FactorName })
  .meta({ id: 'NewFactor', example: { name: 'Phone' } })
export type NewFactor = z.infer<typeof NewFactor>

export const TotpEnrolment = z
  .object({
    id: idSchema('factor'),
    secret: z.string().meta({
      description:
        'Secret in base32, to be typed if no QR code can be scanned. Returned only in this response.',
    }),
    uri: z.string().meta({ description: 'URI that a QR code for an authenticator app encodes.' }),
  })
  .meta({ id: 'TotpEnrolment' })
export type TotpEnrolment = z.infer<typeof TotpEnrolment>

const TotpCode = z.string().regex(/^\d{6}$/, 'must be six digits')

export const TotpConfirmation = z
  .strictObject({
    id: z.string().max(100).meta({ description: 'Id of the factor, as returned by the enrolment.' }),
    code: TotpCode.meta({ description: 'Current code of the authenticator app.' }),
  })
  .meta({ id: 'TotpConfirmation', example: { id: 'fac_01JZ8Q4D3N5W7X9Y2B4C6D8E0F', code: '123456' } })
export type TotpConfirmation = z.infer<typeof TotpConfirmation>

export const RecoveryCodes = z
  .object({
    codes: z
      .array(z.string())
      .meta({ description: 'Recovery codes, each valid for one use. Returned only in this response.' }),
  })
  .meta({ id: 'RecoveryCodes' })
export type RecoveryCodes = z.infer<typeof RecoveryCodes>

const Base64Url = z
  .string()
  .regex(/^[A-Za-z0-9_-]+$/, 'must be base64url without padding')
  .max(10_000)
const CredentialId = Base64Url.max(1_400)

const PasskeyDescriptor = z.object({
  id: z.string(),
  type: z.literal('public-key'),
  transports: z.array(z.string()),
})

/** PublicKeyCredentialRequestOptionsJSON. */
export const PasskeyRequest = z
  .object({
    challenge: z.string(),
    rpId: z.string(),
    timeout: z.int(),
    userVerification: z.enum(['preferred', 'required']),
    allowCredentials: z.array(PasskeyDescriptor),
  })
  .meta({
    id: 'PasskeyRequest',
    description:
      'Data from which a browser creates the options for `navigator.credentials.get` with ' +
      '`parseRequestOptionsFromJSON`.',
  })
export type PasskeyRequest = z.infer<typeof PasskeyRequest>

/** PublicKeyCredentialCreationOptionsJSON. */
export const PasskeyCreation = z
  .object({
    challenge: z.string(),
    rp: z.object({ id: z.string(), name: z.string() }),
    user: z.object({ id: z.string(), name: z.string(), displayName: z.string() }),
    pubKeyCredParams: z.array(z.object({ type: z.literal('public-key'), alg: z.int() })),
    timeout: z.int(),
    excludeCredentials: z.array(PasskeyDescriptor),
    authenticatorSelection: z.object({
      residentKey: z.literal('preferred'),
      userVerification: z.literal('preferred'),
    }),
    attestation: z.literal('none'),
  })
  .meta({
    id: 'PasskeyCreation',
    description:
      'Data from which a browser creates the options for `navigator.credentials.create` with ' +
      '`parseCreationOptionsFromJSON`.',
  })
export type PasskeyCreation = z.infer<typeof PasskeyCreation>

const ChallengeToken = z
  .string()
  .min(1)
  .max(500)
  .meta({ description: 'Challenge token, as returned in the earlier response.' })

export const PasskeyEnrolment = z
  .object({ challenge: ChallengeToken, expiresAt: At, publicKey: PasskeyCreation })
  .meta({ id: 'PasskeyEnrolment' })
export type PasskeyEnrolment = z.infer<typeof PasskeyEnrolment>

export const PasskeyChallenge = z
  .object({ challenge: ChallengeToken, expiresAt: At, publicKey: PasskeyRequest })
  .meta({ id: 'PasskeyChallenge' })
export type PasskeyChallenge = z.infer<typeof PasskeyChallenge>

/** Unknown members of a credential are ignored, because browsers add some. */
const credential = {
  id: CredentialId,
  rawId: CredentialId,
  type: z.literal('public-key'),
  authenticatorAttachment: z.string().max(100).nullish(),
}

const credentialExample = { id: 'Zm9v', rawId: 'Zm9v', type: 'public-key' as const }

export const PasskeyAttestation = z
  .object({
    ...credential,
    response: z.object({
      clientDataJSON: Base64Url,
      attestationObject: Base64Url,
      transports: z.array(z.string().max(20)).max(10).optional(),
    }),
  })
  .meta({ description: 'New credential, in the format of its method `toJSON()`.' })
export type PasskeyAttestation = z.infer<typeof PasskeyAttestation>

export const PasskeyAssertion = z
  .object({
    ...credential,
    response: z.object({
      clientDataJSON: Base64Url,
      authenticatorData: Base64Url,
      signature: Base64Url,
      userHandle: Base64Url.nullish(),
    }),
  })
  .meta({ description: 'Credential, in the format of its method `toJSON()`.' })
export type PasskeyAssertion = z.infer<typeof PasskeyAssertion>

export const NewPasskey = z
  .strictObject({ challenge: ChallengeToken, name: FactorName, credential: PasskeyAttestation })
  .meta({
    id: 'NewPasskey',
    example: {
      ...{ challenge: 'ops_sic_…', name: 'Laptop' },
      credential: {
        ...credentialExample,
        response: {
          clientDataJSON: 'eyJ0eXBlIjoid2ViYXV0aG4uY3JlYXRlIn0',
          attestationObject: 'o2NmbXRkbm9uZQ',
        },
      },
    },
  })
export type NewPasskey = z.infer<typeof NewPasskey>

export const FactorCode = z
  .strictObject({
    challenge: ChallengeToken,
    code: z
      .string()
      .trim()
      .min(1)
      .max(50)
      .meta({ description: 'Current code of the authenticator app, or a recovery code.', example: '123456' }),
  })
  .meta({ id: 'FactorCode', example: { challenge: 'ops_sic_…', code: '123456' } })
export type FactorCode = z.infer<typeof FactorCode>

export const FactorAssertion = z
  .strictObject({ challenge: ChallengeToken, assertion: PasskeyAssertion })
  .meta({
    id: 'FactorAssertion',
    example: {
      challenge: 'ops_sic_…',
      assertion: {
        ...credentialExample,
        response: {
          clientDataJSON: 'eyJ0eXBlIjoid2ViYXV0aG4uZ2V0In0',
          ...{ authenticatorData: 'SZYN5YgOjGh0NBcPZHZgW4_krrmihjLHmVzzuoMdl2M', signature: 'MEUCIQ' },
        },
      },
    },
  })
export type FactorAssertion = z.infer<typeof FactorAssertion>

/** The response to a challenge. */
export type FactorAnswer = FactorCode | FactorAssertion

/** Ways to respond to a challenge. */
export const ChallengeMethod = z.enum(['totp', 'recovery_code', 'passkey'])
export type ChallengeMethod = z.infer<typeof ChallengeMethod>

/** `params` of the error detail of `factor_required`. */
export const FactorChallenge = z
  .object({
    challenge: ChallengeToken,
    expiresAt: At,
    methods: z.array(ChallengeMethod),
    passkey: PasskeyRequest.nullable().meta({
      description: 'Options for a passkey; `null` if `methods` does not contain `passkey`.',
    }),
  })
  .meta({
    id: 'FactorChallenge',
    description: 'Request for a further proof of identity, which must be sent within minutes.',
  })
export type FactorChallenge = z.infer<typeof FactorChallenge>

export const factorEvents = {
  'factor.added': resourceEvent(FactorState, 'A person has added a second factor to their login.'),
  'factor.removed': resourceEvent(
    FactorState,
    'A second factor was removed, by its owner or, for a lost device, by an admin.',
  ),
  'factor.clone_suspected': resourceEvent(
    FactorState,
    'A passkey was refused: its counter did not increase, so a copy of it may exist.',
  ),
  'recovery_codes.created': resourceEvent(
    z.object({ id: idSchema('user'), left: z.int() }),
    'A person has created recovery codes, which replace the earlier ones.',
  ),
  'recovery_codes.used': resourceEvent(
    z.object({ id: idSchema('user'), left: z.int() }),
    'A person has signed in, or stepped up, with a recovery code.',
  ),
} satisfies Record<string, EventDefinition>
