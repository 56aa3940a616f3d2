import { Credentials } from '@opsplane/contracts'
import { z } from 'zod'
import type { StoredProvider } from './domain.js'
import { SignInRefused } from './refusal.js'

/** Claims of a provider about a person, after verification of signature, issuer, audience and time. */
export interface Claims {
  issuer: string
  subject: string
  /** Normalised; `null` if the claim is missing or not an address. */
  email: string | null
  emailVerified: boolean
  name: string | null
  sid: string | null
  /** All claims. */
  all: Readonly<Record<string, unknown>>
}

/** The standard claim, and Entra's claim that the owner of the domain is verified. */
const verifying = ['email_verified', 'xms_edov']
/** The values providers use for true. */
const yes = new Set<unknown>([true, 'true', 1, '1'])

const Text = z.string().min(1).max(500)
const Values = z.union([Text.transform((one) => [one]), z.array(z.unknown()).max(2_000)])

/** Throws `SignInRefused` if the claims identify no person. */
export function parseClaims(all: Readonly<Record<string, unknown>>): Claims {
  const issuer = Text.safeParse(all.iss).data
  const subject = Text.max(255).safeParse(all.sub).data
  if (issuer === undefined || subject === undefined)
    throw new SignInRefused('provider_failed', 'The identity provider has not said who you are.')
  return {
    ...{ issuer, subject, all },
    email: Credentials.shape.email.safeParse(all.email).data ?? null,
    emailVerified: verifying.some((name) => yes.has(all[name])),
    name: readName(all),
    sid: Text.max(255).safeParse(all.sid).data ?? null,
  }
}

function readName({ name, preferred_username: username }: Readonly<Record<string, unknown>>): string | null {
  const Name = z
    .string()
    .trim()
    .min(1)
    .transform((text) => text.slice(0, 100))
  return Name.safeParse(name).data ?? Name.safeParse(username).data ?? null
}

/** The values of a claim: by its name, which may contain dots, otherwise by a path of names. */
export function readClaimValues(all: Readonly<Record<string, unknown>>, claim: string): string[] {
  const found = Object.hasOwn(all, claim) ? all[claim] : claim.split('.').reduce<unknown>(member, all)
  const values = Values.safeParse(found).data ?? []
  return values.filter((value): value is string => typeof value === 'string')
}

const member = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? Reflect.get(value, name)
    : undefined

type Mapping = Pick<StoredProvider, 'roleClaim' | 'roles' | 'defaultRole'>

/** The role that the claims map to, never owner. Throws `SignInRefused` if they map to none. */
export function mapClaimsToRole(
  { roleClaim, roles, defaultRole }: Mapping,
  { all }: Pick<Claims, 'all'>,
): string {
  const values = new Set(roleClaim === null ? [] : readClaimValues(all, roleClaim))
  const role = roles.find(({ value }) => values.has(value))?.role ?? defaultRole
  if (role !== null && role !== 'owner') return role
  const claim = roleClaim === null ? 'nothing' : `the claim ${roleClaim}`
  throw new SignInRefused(
    'no_role',
    `Your identity provider gives you no role in this workspace: ${claim} maps to none. Ask an owner of the workspace.`,
  )
}

/** The address of a person who becomes a user. Throws `SignInRefused` unless it is verified and in a listed domain. */
export function requireAdmittedAddress(
  { email, emailVerified }: Pick<Claims, 'email' | 'emailVerified'>,
  domains: readonly string[],
): string {
  if (email === null || !emailVerified)
    throw new SignInRefused(
      'address_not_proven',
      'Your identity provider does not say that your e-mail address is verified. Verify it there, or ask for an invitation.',
    )
  const domain = email.slice(email.lastIndexOf('@') + 1)
  if (domains.includes(domain)) return email
  throw new SignInRefused(
    'domain_not_listed',
    `People with an address in ${domain} cannot join this workspace by signing in. Ask for an invitation.`,
  )
}
