import { z } from 'zod'

const label = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?'
const hostForm = new RegExp(
  `^(?:\\*|(?:\\*\\.${label}(?:\\.${label})+)|${label}(?:\\.${label})*|\\[[0-9a-f:.]+\\])$`,
)

/** A host a secret may be sent to: its name or address, `*.` and at least two labels, or `*` for every host. */
const SecretHost = z
  .string()
  .trim()
  .toLowerCase()
  .max(253)
  .regex(hostForm, 'must be a host such as api.example.com, *.example.com (one label), or * for every host')
  .refine((host) => host.includes('*') || isCanonical(host), 'must be a host as it stands in a URL')

/** Hosts that something may reach, by names and patterns such as those of a secret. */
export const HostPatterns = z.array(SecretHost).max(50)

/** The most hosts that one secret lists. */
export const maxSecretHosts = 50

/** Where a secret may go. `*` is a choice that has to be stated. */
export const SecretHosts = z
  .array(SecretHost)
  .max(maxSecretHosts)
  .transform((hosts) => [...new Set(hosts)])
  .meta({
    description:
      'The only hosts the value is sent to: names or addresses without a port, `*.example.com` for any one label in front, or `*` for every host. Empty: none yet.',
    example: ['api.example.com'],
  })

/** Whether it is one host as it stands in a URL, and neither a pattern nor an expression. */
export const isLiteralHost = (host: string): boolean =>
  !host.includes('*') && SecretHost.safeParse(host).data === host

/** Whether one of the hosts is this one, as it stands in a URL. */
export function allowsHost(hosts: readonly string[], host: string): boolean {
  const wildcard = `*${host.slice(host.indexOf('.'))}`
  const named = !/^[0-9.]+$/.test(host) && host.includes('.')
  return hosts.some((allowed) => allowed === '*' || allowed === host || (named && allowed === wildcard))
}

/** The host a URL is sent to, as `allowsHost` takes it. Throws for what is no URL. */
export const hostOfUrl = (url: string): string => new URL(url).hostname

function isCanonical(host: string): boolean {
  try {
    return new URL(`https://${host}/`).hostname === host
  } catch {
    return false
  }
}

/** What stands among a secret's hosts for checking the signatures of inbound webhooks, for which it is sent nowhere. */
export const hookHost = 'hooks'
