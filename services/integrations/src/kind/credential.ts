import { HeaderName, literalLength, maxHeaderValueLength, referencedSecrets } from '@opsplane/contracts'
import { z } from 'zod'

/** A text that contains secrets only as references. */
export const Credential = z
  .string()
  .max(4_096)
  .refine((text) => referencedSecrets(text).length > 0, {
    message: 'must refer to a stored secret, as {{secrets.name}} does',
    params: { rule: 'not_a_reference' },
  })
  .meta({ description: 'A reference to a stored secret: `{{secrets.name}}`.' })

/** Headers and parameters with such names are considered credentials. */
const secretHeader = /auth|cookie|token|secret|key|passw|credential|signature|session/i
const secretParameter = /^(api[-_]?key|key|.*token|.*secret|passw.*|sig|signature|credential.*)$/i

const HeaderText = z
  .string()
  .max(maxHeaderValueLength)
  .regex(/^[\t\x20-\x7e\x80-\xff]*$/, 'must be a single line of Latin-1 text')

/** Headers sent with every request; credentials among them must be references. */
export const ConfiguredHeaders = z
  .record(HeaderName, HeaderText)
  .superRefine(referring(secretHeader))
  .refine(fewAndShort, 'must be at most 50 headers of 16 KiB in all')
  .default({})
  .meta({ description: 'Headers sent with every request. Headers with credentials must refer to secrets.' })

/** Query parameters sent with every request; credentials among them must be references. */
export const ConfiguredQuery = z
  .record(z.string().min(1).max(200), z.string().max(4_096))
  .superRefine(referring(secretParameter))
  .refine(fewAndShort, 'must be at most 50 parameters of 16 KiB in all')
  .default({})
  .meta({
    description: 'Query parameters added to every URL. Parameters with credentials must refer to secrets.',
  })

/** Headers of one invocation: references are not filled in. */
export const InvocationHeaders = z
  .record(HeaderName, HeaderText)
  .refine(fewAndShort, 'must be at most 50 headers of 16 KiB in all')
  .optional()
  .meta({
    description: 'Headers of this request. Headers in the configuration of the connector take precedence.',
  })

function fewAndShort(entries: Record<string, string>): boolean {
  const lengths = Object.entries(entries).map(([name, value]) => name.length + literalLength(value))
  return lengths.length <= 50 && lengths.reduce((sum, length) => sum + length, 0) <= 16_384
}

function referring(secretName: RegExp) {
  return (entries: Record<string, string>, context: z.RefinementCtx) => {
    for (const [name, value] of Object.entries(entries)) {
      if (!secretName.test(name) || value === '' || referencedSecrets(value).length > 0) continue
      const message = 'holds a credential, so it must refer to a stored secret, as {{secrets.name}} does'
      context.addIssue({ code: 'custom', path: [name], message, params: { rule: 'not_a_reference' } })
    }
  }
}

/**
 * A name that is inserted into a protocol unchanged. Forbids control characters, so that it cannot inject further
 * lines.
 */
export const plainText = (max: number) =>
  z
    .string()
    .min(1)
    .max(max)
    .regex(/^\P{Cc}*$/u, 'must not have control characters')

/** PEM certificates. */
export const Certificates = z
  .string()
  .max(65_536)
  .regex(/-----BEGIN CERTIFICATE-----/, 'must be certificates in PEM')
  .meta({ description: 'PEM certificates trusted instead of the public authorities.' })
