import { secretReference } from '@opsplane/contracts'
import { z } from 'zod'

/** A password or the like, which is never written into a configuration. */
export const Credential = z
  .string()
  .max(200)
  .refine(
    (text) => new RegExp(`^${secretReference.source}$`).test(text),
    'must be of the form {{secrets.name}}',
  )
  .meta({ description: 'A reference of the form `{{secrets.name}}`.' })

/** A name that goes into a protocol as it is: without control characters it cannot be more than one. */
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
  .meta({ description: 'PEM certificates that are trusted instead of the public authorities.' })
