/** A regular file in an archive. */
interface TarFile {
  path: string
  bytes: Buffer
}

const block = 512

/** Not an archive, or one with entries that packs cannot have, such as links. */
export class TarError extends Error {}

/**
 * The regular files of a tar archive (ustar, with the paths of pax headers). Folders are skipped; links, devices and other
 * entries throw a TarError, as does a truncated archive.
 */
export function readTar(archive: Buffer): TarFile[] {
  const files: TarFile[] = []
  let longPath: string | undefined
  for (let at = 0; at + block <= archive.length; ) {
    const header = archive.subarray(at, at + block)
    if (header.every((byte) => byte === 0)) return files
    requireChecksum(header)
    const size = octal(header.subarray(124, 136))
    const start = at + block
    if (start + size > archive.length) throw new TarError('The archive is cut short.')
    const bytes = archive.subarray(start, start + size)
    at = start + Math.ceil(size / block) * block
    const type = String.fromCharCode(header[156] ?? 0)
    if (type === 'x') longPath = paxPath(bytes)
    else if (type === '0' || type === '\0') {
      files.push({ path: longPath ?? pathOf(header), bytes })
      longPath = undefined
    } else if (type === '5' || type === 'g') longPath = undefined
    else throw new TarError(`${longPath ?? pathOf(header)} is no regular file.`)
  }
  throw new TarError('The archive has no end.')
}

/** Writes a reproducible archive without times and owners. Paths must be ASCII, of at most 255 bytes. */
export function writeTar(files: readonly TarFile[]): Buffer {
  const parts = files.flatMap(({ path, bytes }) => [
    headerOf(path, bytes.length),
    bytes,
    Buffer.alloc((block - (bytes.length % block)) % block),
  ])
  return Buffer.concat([...parts, Buffer.alloc(2 * block)])
}

function requireChecksum(header: Buffer): void {
  if (octal(header.subarray(148, 156)) !== checksumOf(header)) throw new TarError('It is no tar archive.')
}

/** Sum of all bytes, counting the checksum field as spaces. */
function checksumOf(header: Buffer): number {
  let sum = 0
  for (const [index, byte] of header.entries()) sum += index >= 148 && index < 156 ? 0x20 : byte
  return sum
}

/** Numbers in base 256, which are used for files of 8 GiB and more, are not supported. */
function octal(field: Buffer): number {
  const text = textOf(field).trim()
  if (!/^[0-7]*$/.test(text)) throw new TarError('It is no tar archive.')
  return text === '' ? 0 : Number.parseInt(text, 8)
}

function pathOf(header: Buffer): string {
  const ustar = header.subarray(257, 262).toString('latin1') === 'ustar'
  const prefix = ustar ? textOf(header.subarray(345, 500)) : ''
  const name = textOf(header.subarray(0, 100))
  return prefix === '' ? name : `${prefix}/${name}`
}

function textOf(field: Buffer): string {
  const end = field.indexOf(0)
  return field.subarray(0, end === -1 ? field.length : end).toString('utf8')
}

/** Records have the form `<length> <key>=<value>\n`, where the length counts the whole record in bytes. */
function paxPath(bytes: Buffer): string | undefined {
  let path: string | undefined
  for (let at = 0; at < bytes.length; ) {
    const space = bytes.indexOf(0x20, at)
    const length = Number(bytes.subarray(at, space === -1 ? at : space).toString('latin1'))
    if (!Number.isInteger(length) || length < 5 || at + length > bytes.length)
      throw new TarError('A pax header of the archive cannot be read.')
    const [key, ...value] = bytes
      .subarray(space + 1, at + length - 1)
      .toString('utf8')
      .split('=')
    if (key === 'path') path = value.join('=')
    at += length
  }
  return path
}

function headerOf(path: string, size: number): Buffer {
  const header = Buffer.alloc(block)
  const cut = path.length <= 100 ? -1 : path.indexOf('/', path.length - 101)
  if (path.length > 100 && (cut === -1 || cut > 155)) throw new TarError(`${path} is too long.`)
  header.write(path.slice(cut + 1), 0, 'latin1')
  header.write('0000644\0', 100, 'latin1')
  header.write('0000000\0', 108, 'latin1')
  header.write('0000000\0', 116, 'latin1')
  header.write(`${size.toString(8).padStart(11, '0')}\0`, 124, 'latin1')
  header.write('00000000000\0', 136, 'latin1')
  header.write('0', 156, 'latin1')
  header.write('ustar\x0000', 257, 'latin1')
  if (cut > 0) header.write(path.slice(0, cut), 345, 'latin1')
  header.write(`${checksumOf(header).toString(8).padStart(6, '0')}\0 `, 148, 'latin1')
  return header
}
