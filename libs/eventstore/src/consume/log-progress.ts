export interface LogProgress {
  source: string
  position: number
}
