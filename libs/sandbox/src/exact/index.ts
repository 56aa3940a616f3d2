/** Decimals, and functions of expressions that count in them: of plain JavaScript, for browsers as well. */
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
