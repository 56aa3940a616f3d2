import { z } from 'zod'

const label = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?'
const hostForm = new RegExp(
  `^(?:\\*|(?:\\*\\.${label}(?:\\.${label})+)|${label}(?:\\.${label})*|\\[[0-9a-f:.]+\\])$`,
)

/** A host a secret may be sent to: a name or address, `*.` followed by at least two labels, or `*` for every host. */
const SecretHost = z
  .string()
  .trim()
  .toLowerCase()
  .max(253)
  .regex(hostForm, 'must be a host such as api.example.com, *.example.com (one label), or * for every host')
  .refine((host) => host.includes('*') || isCanonical(host), 'must be a host as it stands in a URL')

/** Allowed hosts, as names and patterns with the syntax of a secret's hosts. */
export const HostPatterns = z.array(SecretHost).max(50)

/** Maximum number of hosts listed by one secret. */
export const maxSecretHosts = 50

/** Hosts a secret may be sent to. `*` must be stated explicitly. */
export const SecretHosts = z
  .array(SecretHost)
  .max(maxSecretHosts)
  .transform((hosts) => [...new Set(hosts)])
  .meta({
    description:
      'The only hosts to which the value may be sent: names or addresses without a port, `*.example.com` for ' +
      'exactly one additional label in front, or `*` for every host. If empty, the value is sent to no host.',
    example: ['api.example.com'],
  })

/** Whether the text is a single host as contained in a URL, rather than a pattern or an expression. */
export const isLiteralHost = (host: string): boolean =>
  !host.includes('*') && SecretHost.safeParse(host).data === host

/** Whether one of the patterns in `hosts` matches `host`, which is written as in a URL. */
export function allowsHost(hosts: readonly string[], host: string): boolean {
  const wildcard = `*${host.slice(host.indexOf('.'))}`
  const isDomainName = !/^[0-9.]+$/.test(host) && host.includes('.')
  return hosts.some(
    (allowed) => allowed === '*' || allowed === host || (isDomainName && allowed === wildcard),
  )
}

/** The host of a URL, in the form `allowsHost` expects. Throws if the text is no URL. */
export const hostOfUrl = (url: string): string => new URL(url).hostname

function isCanonical(host: string): boolean {
  try {
    return new URL(`https://${host}/`).hostname === host
  } catch {
    return false
  }
}

/** Entry in a secret's hosts that allows it to verify signatures of inbound webhooks; for that, it is sent nowhere. */
export const hookHost = 'hooks'
