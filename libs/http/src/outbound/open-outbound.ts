import { readFile } from 'node:fs/promises'
import { createOutbound, type Outbound, type OutboundOptions } from './outbound.js'

/** The guard of a service, with the certificates of a PEM file in addition to the public authorities. Throws where it cannot be read. */
export async function openOutbound({
  caFile,
  ...options
}: Omit<OutboundOptions, 'ca'> & { caFile: string | undefined }): Promise<Outbound> {
  const ca = caFile === undefined ? undefined : await readFile(caFile, 'utf8')
  return createOutbound({ ...options, ...(ca !== undefined && { ca }) })
}
