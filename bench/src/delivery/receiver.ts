import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Cluster } from '@opsplane/local'
import { startChild } from '../child.js'

/** Starts the receiver with the certificate that the cluster's dispatcher trusts. */
export async function startReceiver(certificate: Cluster['certificate']) {
  const keyFile = join(dirname(certificate.caFile), 'receiver-key.pem')
  writeFileSync(keyFile, certificate.key, { mode: 0o600 })
  const { child, port } = await startChild('delivery/receiver-process.js', {
    TLS_KEY: keyFile,
    TLS_CERT: certificate.caFile,
  })
  return { child, origin: `https://127.0.0.1:${port}` }
}

/** Starts a receiver without TLS, so that the measured cost is that of the sender and not of the cipher. */
export async function startPlainReceiver() {
  const { child, port } = await startChild('delivery/receiver-process.js', {})
  return { child, origin: `http://127.0.0.1:${port}` }
}
