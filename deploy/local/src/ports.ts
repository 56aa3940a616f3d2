import { type ServiceName, serviceNames } from '@opsplane/contracts'
import { freePort } from '@opsplane/runtime/server-process'
import { InvalidArgumentError } from 'commander'
import { mapNames } from './map-names.js'

/** A message for the user: printed without a stack. */
export class LocalRunError extends Error {}

/**
 * A port for every service; the gateway's is `port`, or else that of the last start if it is free. Throws
 * LocalRunError if the wanted port is in use.
 */
export async function choosePorts(port?: number, last?: number): Promise<Record<ServiceName, number>> {
  const former =
    port === undefined && last !== undefined ? await freePort(last).catch(() => undefined) : undefined
  const gateway = await freePort(port ?? former).catch((error: Error) => {
    throw new LocalRunError(`${error.message} For example: PORT=${(port ?? 8080) + 1} npm start`)
  })
  const ports = mapNames(serviceNames, () => gateway)
  for (const name of serviceNames) if (name !== 'gateway') ports[name] = await freePort()
  return ports
}

/** Parses a port from the command line. Throws InvalidArgumentError for anything else. */
export function parsePort(text: string): number {
  const port = Number(text)
  if (!Number.isInteger(port) || port < 1 || port > 65535)
    throw new InvalidArgumentError('a port is 1 to 65535')
  return port
}

/**
 * A metrics port for each service, counting up from `first` in the order of the registry; `undefined` without
 * `first`. Throws LocalRunError if `first` is not a usable port.
 */
export function metricsPortsFrom(first: string | undefined): Record<ServiceName, number> | undefined {
  if (first === undefined || first === '') return undefined
  const port = Number(first)
  if (!Number.isInteger(port) || port < 1 || port > 65_535 - serviceNames.length)
    throw new LocalRunError(`METRICS_PORT=${first} is no port with ${serviceNames.length - 1} more above it.`)
  return mapNames(serviceNames, (name) => port + serviceNames.indexOf(name))
}
