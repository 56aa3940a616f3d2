import {
  artifact,
  type Json,
  type ValidationFault,
  type ValidationInput,
  type ValidationOutput,
} from '@opsplane/sdk'

type Asset = { [column: string]: Json }

const serial = /^[A-Z0-9]{2,5}-[0-9]{4,12}$/

export default artifact<ValidationInput<Asset>, ValidationOutput>(({ records }) => ({
  faults: records.flatMap((record, index) => faultsOf(record).map((fault) => ({ index, ...fault }))),
}))

function faultsOf({ serial_number: number, purchased_on: bought, warranty_until: until }: Asset) {
  const faults: Omit<ValidationFault, 'index'>[] = []
  if (typeof number === 'string' && !serial.test(number))
    faults.push({ column: 'serial_number', message: 'must be such as LT-00042' })
  if (typeof bought === 'string' && typeof until === 'string' && until < bought)
    faults.push({ column: 'warranty_until', message: 'must not be before purchased_on' })
  return faults
}
