import { artifact, type Json } from '@opsplane/sdk'

type Asset = { [column: string]: Json }
/** What is about to be written: of an update, the records as they would be. */
interface Input {
  operation: 'create' | 'update' | 'delete'
  records: Asset[]
}
type Fault = { index: number; column: string; message: string }

const serial = /^[A-Z0-9]{2,5}-[0-9]{4,12}$/

export default artifact<Input>(({ records }) => {
  const faults: Fault[] = records.flatMap((record, index) =>
    faultsOf(record).map((fault) => ({ index, ...fault })),
  )
  return { valid: faults.length === 0, faults }
})

function faultsOf({ serial_number: number, purchased_on: bought, warranty_until: until }: Asset) {
  const faults: Omit<Fault, 'index'>[] = []
  if (typeof number === 'string' && !serial.test(number))
    faults.push({ column: 'serial_number', message: 'must be such as LT-00042' })
  if (typeof bought === 'string' && typeof until === 'string' && until < bought)
    faults.push({ column: 'warranty_until', message: 'must not be before purchased_on' })
  return faults
}
