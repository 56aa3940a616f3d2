/** A person's address as used in mail headers. */
export interface Mailbox {
  name: string
  address: string
}

const pattern = /^(?:([^<>\p{Cc}]*)<([^<>\s@]+@[^<>\s@]+)>|([^<>\s@]+@[^<>\s@]+))$/u

/** `null` when the text is neither `ada@example.com` nor `Ada <ada@example.com>`. */
export function parseMailbox(text: string): Mailbox | null {
  const [, name = '', named, bare] = pattern.exec(text.trim()) ?? []
  const address = named ?? bare
  return address === undefined ? null : { name: name.trim(), address }
}

export const mailboxDomain = ({ address }: Mailbox): string => address.slice(address.indexOf('@') + 1)
