import { randomInt } from 'node:crypto'

/**
 * One set of services with their data. Names that belong to a whole Postgres server, those of roles and databases, begin
 * with `rolePrefix`, so that several installations share a server (ADR 123).
 */
export interface Installation {
  /** 6 lower-case letters and digits, made once. */
  id: string
  /** `opsplane_<id>_`; empty where the installation is older than its id and was never adopted. */
  rolePrefix: string
}

export const toInstallation = (id: string): Installation => ({ id, rolePrefix: `opsplane_${id}_` })

/** What an id reads like. */
export const installationIdPattern = /^[a-z][a-z0-9]{5}$/

const letters = 'abcdefghijklmnopqrstuvwxyz'
const lettersAndDigits = `${letters}0123456789`

export function newInstallation(): Installation {
  const pick = (from: string) => from[randomInt(from.length)]
  return toInstallation([pick(letters), ...Array.from({ length: 5 }, () => pick(lettersAndDigits))].join(''))
}

/** The role of the server that an installation calls by this name: a service's schema, say. */
export const formatRole = ({ rolePrefix }: Pick<Installation, 'rolePrefix'>, name: string): string =>
  `${rolePrefix}${name}`

/** The database of the tenants' data, where it is on the server of the others. */
export const dataDatabaseName = ({ rolePrefix }: Pick<Installation, 'rolePrefix'>): string =>
  `${rolePrefix || 'opsplane_'}data`

/** A role or a database is another installation's, or a copy: what was expected, what was found, and the cure. */
export class InstallationError extends Error {
  override name = 'InstallationError'
}
