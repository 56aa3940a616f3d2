import {
  hostOfUrl,
  referencedSecrets,
  type SecretTarget,
  type UpdateWebhook,
  type Webhook,
} from '@opsplane/contracts'
import { jsonPointer } from '@opsplane/http'

type Sends = Pick<Webhook, 'url' | 'headers'>

/** The secrets that headers refer to, each with the host of the webhook. */
export const listSecretTargets = ({ url, headers }: Sends): (SecretTarget & { path: string })[] =>
  Object.entries(headers).flatMap(([header, value]) =>
    referencedSecrets(value).map((name) => ({
      ...{ name, hosts: [hostOfUrl(url)], path: jsonPointer(['headers', header]) },
    })),
  )

/** The secrets that a change puts to use; none if it changes neither the requests nor whether they are sent. */
export function listChangedSecretTargets(
  { url, headers, status }: Pick<UpdateWebhook, 'url' | 'headers' | 'status'>,
  present: Sends,
): (SecretTarget & { path: string })[] {
  if (url === undefined && headers === undefined && status !== 'active') return []
  return listSecretTargets({ url: url ?? present.url, headers: headers ?? present.headers })
}
