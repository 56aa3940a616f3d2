import type { InputComponent } from '@opsplane/contracts'
import type { Typed } from '../page/input-values.js'

export interface ControlProps<Input extends InputComponent = InputComponent> {
  input: Input
  id: string
  typed: Typed
  onTyped(typedValue: Typed): void
  /** For screen readers: description, validity and whether the input is required. */
  aria: { 'aria-describedby'?: string; 'aria-invalid'?: boolean; 'aria-required'?: boolean }
}
