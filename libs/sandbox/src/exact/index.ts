/** Decimals, and expression functions that calculate with them, in plain JavaScript that also runs in browsers. */
export {
  addDecimals,
  compareDecimals,
  type Decimal,
  decimalText,
  parseDecimal,
  splitDecimal,
  toNumberOrText,
} from './decimal.js'
export { registerExactFunctions } from './functions.js'
