import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Cluster } from '@opsplane/local'
import { startChild } from '../child.js'

/** Starts the receiver under the certificate that the dispatcher of the cluster trusts. */
export async function startReceiver(certificate: Cluster['certificate']) {
  const keyFile = join(dirname(certificate.caFile), 'receiver-key.pem')
  writeFileSync(keyFile, certificate.key, { mode: 0o600 })
  const { child, port } = await startChild('delivery/receiver-process.js', {
    TLS_KEY: keyFile,
    TLS_CERT: certificate.caFile,
  })
  return { child, origin: `https://127.0.0.1:${port}` }
}

/** A receiver without TLS: what it costs to send is the sender's, not the cipher's. */
export async function startPlainReceiver() {
  const { child, port } = await startChild('delivery/receiver-process.js', {})
  return { child, origin: `http://127.0.0.1:${port}` }
}
