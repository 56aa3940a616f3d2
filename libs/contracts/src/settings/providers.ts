import { z } from 'zod'
import { idSchema } from '../core/ids.js'
import { type EventDefinition, resourceEvent } from '../events/catalog.js'
import { Slug, Workspace } from './settings.js'

const At = z.iso.datetime({ precision: 3 })

/** Claims, claim values and client names, in the exact spelling of the issuer. */
const Spelled = z.string().trim().min(1).max(255)

const Issuer = z
  .url({ protocol: /^https?$/ })
  .max(500)
  .refine((text) => !/[?#]/.test(text), 'must have neither a query nor a fragment')
  .meta({
    description:
      'Issuer exactly as the provider states it in its discovery document and in every ID token, character by ' +
      'character.',
    example: 'https://login.example.com/realms/acme',
  })

const Scope = z
  .string()
  .regex(
    /^[\x21\x23-\x5b\x5d-\x7e]{1,100}$/,
    'must be a scope of OAuth: visible ASCII without quotes and backslashes',
  )

const Scopes = z
  .array(Scope)
  .max(20)
  .transform((listed) => [...new Set(['openid', ...listed])])
  .meta({
    description: 'Scopes requested from the provider. `openid` is always included.',
    example: ['openid', 'email', 'profile'],
  })

const MappedRole = z
  .string()
  .min(1)
  .max(50)
  .refine((role) => role !== 'owner', 'must not be owner: an owner is made by an owner, in this workspace')
  .meta({ example: 'developer' })

const Domain = z
  .string()
  .trim()
  .toLowerCase()
  .max(253)
  .regex(
    /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]$/,
    'must be a domain such as example.com',
  )

const Domains = z
  .array(Domain)
  .max(50)
  .transform((listed) => [...new Set(listed)])
  .meta({
    description:
      'E-mail domains. A person with a verified e-mail address in one of these domains becomes a user of the ' +
      'workspace at the first sign-in. Only domains that the operator of the installation lists (`SSO_DOMAINS`) ' +
      'are accepted. Empty: no one becomes a user this way.',
    example: ['example.com'],
  })

/** Fields of a provider without its secret, both as set and as shown. */
const fields = {
  name: z.string().trim().min(1).max(100).meta({ example: 'Acme SSO' }),
  issuer: Issuer,
  clientId: Spelled.meta({ example: 'opsplane' }),
  scopes: Scopes,
  roleClaim: Spelled.nullable().meta({
    description:
      'Claim that determines the role at every sign-in, as a name or as a path such as `realm_access.roles`. ' +
      '`null`: new users have `defaultRole`, and existing roles do not change.',
    example: 'groups',
  }),
  roles: z
    .array(z.strictObject({ value: Spelled, role: MappedRole }))
    .max(100)
    .meta({
      description: 'Roles by value of the claim. The first entry whose value is present applies.',
      example: [{ value: 'ops-admins', role: 'admin' }],
    }),
  defaultRole: MappedRole.nullable().meta({
    description: 'Role of users if no value of the claim maps to a role. `null`: such a sign-in is refused.',
  }),
  domains: Domains,
  required: z.boolean().meta({
    description:
      'Whether the workspace admits only sessions of a provider that it requires. Owners are also admitted with ' +
      'other sessions, each of which emits an event. API keys are not affected.',
  }),
  enabled: z.boolean().meta({
    description: 'Whether users can sign in with the provider. Disabling the provider ends its sessions.',
  }),
}

/** A provider as contained in events, without its secret. */
export const IdentityProviderState = z.object({
  id: idSchema('identityProvider'),
  ...fields,
  clientSecretSetAt: At,
  createdAt: At,
  updatedAt: At,
})
export type IdentityProviderState = z.infer<typeof IdentityProviderState>

export const IdentityProvider = IdentityProviderState.extend({
  version: Workspace.shape.version,
  redirectUri: z
    .string()
    .nullable()
    .meta({
      description:
        'Redirect URI, to be registered with the provider without changes. `null` while the installation has no ' +
        '`PUBLIC_ORIGIN`.',
    }),
  backchannelLogoutUri: z.string().nullable().meta({ description: 'URI for back-channel logout.' }),
}).meta({ id: 'IdentityProvider' })
export type IdentityProvider = z.infer<typeof IdentityProvider>

const ClientSecret = z.string().min(1).max(1_000).meta({
  description: 'Secret of the client. Stored sealed and never returned.',
  example: 'a-secret-of-the-client',
})

export const NewIdentityProvider = z
  .strictObject({
    ...fields,
    clientSecret: ClientSecret,
    scopes: Scopes.default(['openid', 'email', 'profile']),
    roleClaim: fields.roleClaim.default(null),
    roles: fields.roles.default([]),
    defaultRole: fields.defaultRole.default(null),
    domains: Domains.default([]),
    required: fields.required.default(false),
    enabled: fields.enabled.default(true),
  })
  .meta({
    id: 'NewIdentityProvider',
    example: {
      name: 'Acme SSO',
      issuer: 'https://login.example.com/realms/acme',
      clientId: 'opsplane',
      clientSecret: 'a-secret-of-the-client',
      defaultRole: 'developer',
    },
  })
export type NewIdentityProvider = z.infer<typeof NewIdentityProvider>

export const IdentityProviderPatch = z
  .strictObject({ ...fields, clientSecret: ClientSecret })
  .omit({ issuer: true })
  .partial()
  .meta({ id: 'IdentityProviderPatch', example: { enabled: false } })
export type IdentityProviderPatch = z.infer<typeof IdentityProviderPatch>

/** Links a login to the subject by which a provider authenticates it. */
export const IdentityState = z.object({
  id: idSchema('identity'),
  userId: idSchema('user'),
  providerId: idSchema('identityProvider'),
  issuer: z.string(),
  subject: z
    .string()
    .meta({ description: 'Permanent identifier of the person at the issuer; not an e-mail address.' }),
  createdAt: At,
  updatedAt: At,
})
export type IdentityState = z.infer<typeof IdentityState>

export const Identity = IdentityState.extend({ version: Workspace.shape.version }).meta({ id: 'Identity' })
export type Identity = z.infer<typeof Identity>

const ReturnTo = z
  .string()
  .max(500)
  // Browsers treat a backslash as a slash, and drop tabs and line breaks.
  .regex(/^\/(?!\/)[!-[\]-~]*$/, 'must be a path of this origin, such as /incidents')
  .meta({ description: 'Path to which the browser is sent after the sign-in.', example: '/' })

export const SsoStart = z
  .strictObject({ providerId: idSchema('identityProvider'), returnTo: ReturnTo.default('/') })
  .meta({ id: 'SsoStart', example: { providerId: 'idp_01JZ8Q4D3N5W7X9Y2B4C6D8E0F', returnTo: '/' } })
export type SsoStart = z.infer<typeof SsoStart>

export const SsoLocation = z
  .object({ location: z.string().meta({ description: 'URL to which the browser must be sent.' }) })
  .meta({
    id: 'SsoLocation',
    example: { location: 'https://login.example.com/authorize?client_id=opsplane' },
  })
export type SsoLocation = z.infer<typeof SsoLocation>

export const SsoLogout = z
  .object({
    location: z
      .string()
      .nullable()
      .meta({
        description:
          'URL to which the browser must be sent to log out of the provider as well; `null` if the provider has no ' +
          'such page.',
      }),
  })
  .meta({ id: 'SsoLogout', example: { location: 'https://login.example.com/logout?client_id=opsplane' } })
export type SsoLogout = z.infer<typeof SsoLogout>

export const SsoQuery = z.object({
  workspace: Slug.optional().meta({
    description: 'Slug of the workspace. If omitted, no providers are returned.',
  }),
})

export const SsoChoices = z
  .object({
    providers: z.array(z.object({ id: idSchema('identityProvider'), name: z.string() })),
  })
  .meta({
    id: 'SsoChoices',
    description: 'Identity providers of the workspace. Empty if the workspace has none or does not exist.',
    example: { providers: [{ id: 'idp_01JZ8Q4D3N5W7X9Y2B4C6D8E0F', name: 'Acme SSO' }] },
  })

/** Why a sign-in through a provider failed. */
const ssoRefusals = [
  'provider_failed',
  'provider_refused',
  'not_a_member',
  'address_not_proven',
  'domain_not_listed',
  'login_exists',
  'no_role',
  'identity_taken',
  'session_over',
] as const
export const SsoRefusal = z.enum(ssoRefusals)
export type SsoRefusal = z.infer<typeof SsoRefusal>

/** A rejected sign-in as contained in events. */
const RefusedSignIn = z.object({
  id: idSchema('identityProvider'),
  reason: SsoRefusal,
  message: z.string(),
  subject: z.string().nullable(),
  email: z.string().nullable().meta({ description: 'E-mail address as stated by the provider.' }),
})

/** An owner who entered a workspace that requires a provider with a session not issued through that provider. */
const BreakGlassEntry = z.object({ id: idSchema('session'), userId: idSchema('user') })

export const providerEvents = {
  'identity_provider.created': resourceEvent(
    IdentityProviderState,
    'Users may sign in by an identity provider from now on.',
  ),
  'identity_provider.updated': resourceEvent(
    IdentityProviderState,
    'How users sign in by an identity provider has changed.',
  ),
  'identity_provider.deleted': resourceEvent(
    IdentityProviderState,
    'An identity provider was removed. Its sessions have ended, and its identities can no longer sign in.',
  ),
  'identity_provider.sign_in_refused': resourceEvent(
    RefusedSignIn,
    'A sign-in by an identity provider was refused.',
  ),
  'identity.linked': resourceEvent(IdentityState, 'An identity of a provider signs a user in from now on.'),
  'identity.unlinked': resourceEvent(IdentityState, 'An identity of a provider signs a user in no longer.'),
  'session.break_glass': resourceEvent(
    BreakGlassEntry,
    'An owner has entered a workspace that requires an identity provider by a session of another kind.',
  ),
} satisfies Record<string, EventDefinition>
