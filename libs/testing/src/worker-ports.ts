// Several workers start servers at the same time, each on a port that it found free a moment before: no two look in the
// same place. Their parent is the same, so that its pid keeps apart runs on one machine, mostly.
const LOWEST = 12_000
const PER_WORKER = 1_250
const PLACES = 16

const place = (process.ppid + Number(process.env.JEST_WORKER_ID ?? 1)) % PLACES
const lowest = LOWEST + place * PER_WORKER
process.env.FREE_PORTS = `${lowest}-${lowest + PER_WORKER - 1}`

export {}
