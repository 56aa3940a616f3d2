const digits = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

/** The least id of a delivery made at this instant (Unix ms) or later: ids begin with their time. */
export function leastDeliveryId(atMs: number): string {
  const time = [...Math.max(0, atMs).toString(32)].map((digit) => digits[Number.parseInt(digit, 32)])
  return `del_${time.join('').padStart(10, '0')}`
}
