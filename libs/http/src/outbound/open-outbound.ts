import { readFile } from 'node:fs/promises'
import { createOutbound, type Outbound, type OutboundOptions } from './outbound.js'

/**
 * The outbound guard of a service. It trusts the certificates of a PEM file in addition to the
 * public CAs. Throws if the file cannot be read.
 */
export async function openOutbound({
  caFile,
  ...options
}: Omit<OutboundOptions, 'ca'> & { caFile: string | undefined }): Promise<Outbound> {
  const ca = caFile === undefined ? undefined : await readFile(caFile, 'utf8')
  return createOutbound({ ...options, ...(ca !== undefined && { ca }) })
}
