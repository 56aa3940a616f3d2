import { randomInt } from 'node:crypto'

/**
 * A set of services with their data. Names that are global to a Postgres server, those of roles and databases,
 * start with `rolePrefix`, so that several installations can share a server (ADR 123).
 */
export interface Installation {
  /** 6 lower-case letters and digits, generated once. */
  id: string
  /** `opsplane_<id>_`; empty if the installation is older than its id and was never adopted. */
  rolePrefix: string
}

export const toInstallation = (id: string): Installation => ({ id, rolePrefix: `opsplane_${id}_` })

/** Format of an id. */
export const installationIdPattern = /^[a-z][a-z0-9]{5}$/

const letters = 'abcdefghijklmnopqrstuvwxyz'
const lettersAndDigits = `${letters}0123456789`

export function newInstallation(): Installation {
  const pick = (from: string) => from[randomInt(from.length)]
  return toInstallation([pick(letters), ...Array.from({ length: 5 }, () => pick(lettersAndDigits))].join(''))
}

/** The server role for this name of an installation, such as a service's schema. */
export const formatRole = ({ rolePrefix }: Pick<Installation, 'rolePrefix'>, name: string): string =>
  `${rolePrefix}${name}`

/** The database of tenant data, if it is on the same server as the others. */
export const dataDatabaseName = ({ rolePrefix }: Pick<Installation, 'rolePrefix'>): string =>
  `${rolePrefix || 'opsplane_'}data`

/**
 * A role or a database belongs to another installation, or the database is a copy. States what was expected, what
 * was found, and the remedy.
 */
export class InstallationError extends Error {
  override name = 'InstallationError'
}
