import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { generate } from 'selfsigned'

export interface ReceiverCertificate {
  key: string
  cert: string
  /** PEM file of the authority that the dispatcher is configured to trust. */
  caFile: string
}

export interface InternalCertificate extends ReceiverCertificate {
  keyFile: string
}

/** A certificate for receivers on this machine, and on `host` if given; created once and kept. */
export const makeReceiverCertificate = (folder: string, host?: string): Promise<ReceiverCertificate> =>
  makeCertificate(folder, 'receiver', host)

/** The certificate by which the services of a local cluster authenticate each other; it is its own authority. */
export const makeInternalCertificate = (folder: string): Promise<InternalCertificate> =>
  makeCertificate(folder, 'internal')

async function makeCertificate(
  folder: string,
  name: string,
  host = 'localhost',
): Promise<InternalCertificate> {
  const keyFile = join(folder, `${name}-key.pem`)
  const caFile = join(folder, `${name}.pem`)
  if (!existsSync(keyFile) || !existsSync(caFile)) {
    mkdirSync(folder, { recursive: true })
    const made = await generate([{ name: 'commonName', value: 'localhost' }], {
      algorithm: 'sha256',
      keyType: 'ec',
      notAfterDate: new Date(Date.now() + 3650 * 86_400_000),
      extensions: [
        { name: 'basicConstraints', cA: true, critical: true },
        {
          name: 'subjectAltName',
          altNames: [
            { type: 2, value: 'localhost' },
            ...(host === 'localhost' ? [] : [{ type: 2 as const, value: host }]),
            { type: 7, ip: '127.0.0.1' },
          ],
        },
      ],
    })
    writeFileSync(keyFile, made.private, { mode: 0o600 })
    writeFileSync(caFile, made.cert)
  }
  return { key: readFileSync(keyFile, 'utf8'), cert: readFileSync(caFile, 'utf8'), caFile, keyFile }
}
